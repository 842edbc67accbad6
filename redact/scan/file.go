package scan

import (
	"encoding/hex"
	"path"
	"slices"
	"strings"
	"time"

	"aesop/internal/document"
	"aesop/redact"
)

// FileName is where the root of a repository has its additional rules and its exemptions.
const FileName = "aesop-scan.json"

// dateLayout is how days are written.
const dateLayout = "2006-01-02"

// file is a parsed aesop-scan.json. The zero value is that of a repository without one.
type file struct {
	rules      []redact.Rule
	exemptions map[subject]exemption
}

// subject is what an exemption or approval is for: one rule, in one file, as long as its content is that one.
type subject struct{ path, rule, sha256 string }

type exemption struct {
	status  Status
	reason  string
	expires time.Time // the first moment at which it holds no more
}

// The document as it is written.
type (
	fileDocument struct {
		SchemaVersion int             `json:"schemaVersion"`
		Rules         []ruleDocument  `json:"rules"`
		Exemptions    []exemptionText `json:"exemptions"`
	}
	ruleDocument struct {
		ID       string `json:"id"`
		Severity string `json:"severity"`
		Pattern  string `json:"pattern"`
		Name     string `json:"name"`
	}
	exemptionText struct {
		Path    string `json:"path"`
		Rule    string `json:"rule"`
		SHA256  string `json:"sha256"`
		As      string `json:"as"`
		Reason  string `json:"reason"`
		Expires string `json:"expires"`
	}
)

// parseFile reads an aesop-scan.json. name is for messages.
func parseFile(name string, text []byte) (file, error) {
	f := file{exemptions: map[subject]exemption{}}
	parsed, err := document.Parse(name, text)
	if err != nil {
		return f, err
	}
	var written fileDocument
	if err := parsed.Root().Into(&written); err != nil {
		return f, err
	}
	top, err := parsed.Root().Need("schemaVersion")
	if err != nil {
		return f, err
	}
	if written.SchemaVersion != SchemaVersion {
		return f, top["schemaVersion"].Errorf("schema_version", "is %d, and this program reads %d", written.SchemaVersion, SchemaVersion)
	}
	if node, ok := top["rules"]; ok && !node.Null() {
		nodes, err := node.Array()
		if err != nil {
			return f, err
		}
		for i, r := range written.Rules {
			rule, err := r.rule(nodes[i])
			if err != nil {
				return f, err
			}
			if slices.ContainsFunc(slices.Concat(redact.Rules(), f.rules), func(other redact.Rule) bool { return other.ID == rule.ID }) {
				return f, nodes[i].Errorf("duplicate", "there is a rule %s already", rule.ID)
			}
			f.rules = append(f.rules, rule)
		}
	}
	if node, ok := top["exemptions"]; ok && !node.Null() {
		nodes, err := node.Array()
		if err != nil {
			return f, err
		}
		for i, e := range written.Exemptions {
			if err := e.into(f.exemptions, nodes[i]); err != nil {
				return f, err
			}
		}
	}
	return f, nil
}

func (r ruleDocument) rule(at document.Node) (redact.Rule, error) {
	rule := redact.Rule{ID: r.ID, Pattern: r.Pattern, Name: r.Name}
	if _, err := at.Need("id", "severity", "pattern"); err != nil {
		return rule, err
	}
	if r.ID == "" || r.Pattern == "" {
		return rule, at.Errorf("shape", "a rule needs an id and a pattern")
	}
	found := false
	for _, s := range []redact.Severity{redact.Critical, redact.High, redact.Low} {
		if s.String() == r.Severity {
			rule.Severity, found = s, true
		}
	}
	if !found {
		return rule, at.Errorf("shape", "severity is %q, must be critical, high or low", r.Severity)
	}
	return rule, nil
}

func (e exemptionText) into(all map[subject]exemption, at document.Node) error {
	if _, err := at.Need("path", "rule", "sha256", "as", "reason", "expires"); err != nil {
		return err
	}
	s := subject{e.Path, e.Rule, e.SHA256}
	if defect := s.defect(); defect != "" {
		return at.Errorf("shape", "%s", defect)
	}
	if strings.TrimSpace(e.Reason) == "" {
		return at.Errorf("shape", "the reason is empty")
	}
	last, err := time.Parse(dateLayout, e.Expires)
	if err != nil {
		return at.Errorf("shape", "expires is %q, must be a day such as 2027-01-31", e.Expires)
	}
	status := Status("allowed_" + e.As)
	if status != AllowedSource && status != AllowedDoc {
		return at.Errorf("shape", "as is %q, must be redaction_source or doc", e.As)
	}
	if _, twice := all[s]; twice {
		return at.Errorf("duplicate", "the same path, rule and content stand twice")
	}
	all[s] = exemption{status, e.Reason, last.AddDate(0, 0, 1)}
	return nil
}

// defect says what is wrong with a subject, or nothing.
func (s subject) defect() string {
	switch sum, err := hex.DecodeString(s.sha256); {
	case s.path == "" || s.path != path.Clean(s.path) || path.IsAbs(s.path) || s.path == ".." || strings.HasPrefix(s.path, "../"):
		return "the path must be exact, with slashes, relative to the root of the repository"
	case s.rule == "":
		return "the rule is empty"
	case err != nil || len(sum) != 32 || strings.ToLower(s.sha256) != s.sha256:
		return "sha256 must be the 64 digits, in lower case, of the hash of the whole content"
	}
	return ""
}
