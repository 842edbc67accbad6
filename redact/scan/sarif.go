package scan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path"
)

// Parts of SARIF 2.1.0, the format in which code forges take findings.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		ColumnKind  string            `json:"columnKind"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string       `json:"id"`
		ShortDescription sarifMessage `json:"shortDescription"`
	}
	sarifInvocation struct {
		ExecutionSuccessful bool `json:"executionSuccessful"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID              string             `json:"ruleId"`
		RuleIndex           int                `json:"ruleIndex"`
		Level               string             `json:"level"`
		Message             sarifMessage       `json:"message"`
		Locations           []sarifLocation    `json:"locations"`
		PartialFingerprints map[string]string  `json:"partialFingerprints"`
		Suppressions        []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI       string `json:"uri"`
		URIBaseID string `json:"uriBaseId,omitempty"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
)

// WriteSARIF writes the result in SARIF 2.1.0. What is exempt or approved is a suppressed result. Fingerprints there are of places, so that
// they are the same in the next run.
func (r *Result) WriteSARIF(w io.Writer) error {
	one := sarifRun{ColumnKind: "unicodeCodePoints", Invocations: []sarifInvocation{{true}}, Results: []sarifResult{}}
	one.Tool.Driver = sarifDriver{Name: "aesop", Rules: []sarifRule{}}
	index := map[string]int{}
	for _, f := range r.Findings {
		n, known := index[f.Rule]
		if !known {
			n = len(index)
			index[f.Rule] = n
			about := sarifMessage{"what the rule " + f.Rule + " takes for a secret"}
			one.Tool.Driver.Rules = append(one.Tool.Driver.Rules, sarifRule{f.Rule, about})
		}
		one.Results = append(one.Results, f.sarif(n))
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{one}})
}

func (f Finding) sarif(rule int) sarifResult {
	result := sarifResult{RuleID: f.Rule, RuleIndex: rule, Level: "error", Message: sarifMessage{f.String()}, Locations: []sarifLocation{f.location()}}
	switch f.Status {
	case Fatal:
	case Warning:
		result.Level = "warning"
	default:
		result.Level = "note"
		result.Suppressions = []sarifSuppression{{"external", f.Note}}
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %q %s %d %d", f.Rule, f.Place, f.Path, f.SHA256, f.Line, f.Column))
	result.PartialFingerprints = map[string]string{"aesopPlace/v1": hex.EncodeToString(sum[:16])}
	return result
}

func (f Finding) location() sarifLocation {
	switch f.Place {
	case InContent, InName:
		at := &sarifPhysical{Artifact: sarifArtifact{URI: (&url.URL{Path: f.Path}).String()}}
		if !path.IsAbs(f.Path) {
			at.Artifact.URIBaseID = "%SRCROOT%"
		}
		if f.Line > 0 {
			at.Region = &sarifRegion{f.Line, f.Column}
		}
		return sarifLocation{Physical: at}
	case InRef:
		return sarifLocation{Logical: []sarifLogical{{f.Path}}}
	}
	return sarifLocation{Logical: []sarifLogical{{f.Commit + " " + string(f.Place)}}}
}
