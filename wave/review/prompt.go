package review

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"text/template"

	"aesop/wave"
)

//go:embed prompt.tmpl
var promptText string

// subject is what the agent judges. It stands in the prompt as one line of JSON: no text in it can end the line, so none can pass for
// the prompt's own.
type subject struct {
	Item     string   `json:"item"`
	Title    string   `json:"title,omitempty"`
	Asked    string   `json:"asked"` // the item's prompt
	Criteria []string `json:"acceptanceCriteria,omitempty"`
	Owns     []string `json:"mayChange"`
	Test     string   `json:"test"` // passed, on this commit
	Commit   string   `json:"commit"`
	Diff     string   `json:"diff"`
}

// promptFor is the prompt about a change. last is why there was no answer before, or nil.
func promptFor(c wave.Change, last error) (string, error) {
	about, err := json.Marshal(subject{Item: c.Item.ID, Title: c.Item.Title, Asked: c.Item.Prompt, Criteria: c.Item.AcceptanceCriteria, Owns: c.Item.OwnsFiles,
		Test: c.Item.TestCmd.String(), Commit: c.Commit, Diff: c.Diff})
	if err != nil {
		return "", fmt.Errorf("review %s: %w", c.Item.ID, err)
	}
	t, err := template.New("review").Parse(promptText)
	if err != nil {
		return "", err
	}
	input := struct{ Subject, Schema, Before string }{Subject: string(about), Schema: schema}
	if last != nil {
		before, err := json.Marshal(last.Error())
		if err != nil {
			return "", err
		}
		input.Before = string(before)
	}
	var b bytes.Buffer
	err = t.Execute(&b, input)
	return b.String(), err
}
