package wave

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"strings"
	"text/template"
)

//go:embed prompt.tmpl
var promptText string

// Template is the built-in PromptBuilder.
type Template struct{}

// Version is the template's number and the hash of its text.
func (Template) Version() string {
	sum := sha256.Sum256([]byte(promptText))
	return "aesop-1 sha256:" + hex.EncodeToString(sum[:])
}

// Prompt fills the template in.
func (Template) Prompt(p PromptInput) (string, error) {
	t, err := template.New("prompt").Option("missingkey=error").Funcs(template.FuncMap{"indent": indent}).Parse(promptText)
	if err != nil {
		return "", fmt.Errorf("prompt template: %w", err)
	}
	var b strings.Builder
	if err := t.Execute(&b, p); err != nil {
		return "", fmt.Errorf("prompt of %s: %w", p.Item.ID, err)
	}
	return b.String(), nil
}

// indent sets text off from the instructions around it.
func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ")
}
