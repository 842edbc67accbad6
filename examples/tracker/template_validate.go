package main

import (
	"fmt"
	"io"
	"os"

	"aesop/examples/internal/cli"
	"aesop/tracker"
	"aesop/tracker/template"
)

// everyTemplate is the word for all built-in templates.
const everyTemplate = "all"

type templateValidateCommand struct {
	Files    []string `arg:"" optional:"" name:"file" help:"Templates, or backlogs, of your own."`
	Template string   `help:"A built-in template, or all of them (default: all, where no file is named)." placeholder:"NAME"`
	JSON     bool     `name:"json" help:"Print one JSON document on standard output."`
}

func (templateValidateCommand) Help() string {
	return `Examples:

  tracker template validate
  tracker template validate --template service --json
  tracker template validate my-template.json

Every template is tried out with sample values. Exit 0 if nothing is wrong, 1 if something is, 2 where a
file cannot be read.`
}

type templateValidateDocument struct {
	SchemaVersion int              `json:"schemaVersion"`
	OK            bool             `json:"ok"`
	Templates     []templateResult `json:"templates"`
}

type templateResult struct {
	Name   string            `json:"name"`
	Valid  bool              `json:"valid"`
	Errors []template.Defect `json:"errors"`
}

func (cmd templateValidateCommand) Run(c *cli.Context) error {
	templates, err := cmd.templates()
	if err != nil {
		return err
	}
	document := templateValidateDocument{SchemaVersion: schemaVersion, OK: true, Templates: []templateResult{}}
	for _, t := range templates {
		defects := t.Validate()
		document.OK = document.OK && len(defects) == 0
		document.Templates = append(document.Templates, templateResult{t.Name, len(defects) == 0, append([]template.Defect{}, defects...)})
	}
	c.Print(document, func(w io.Writer) { printResults(w, document.Templates) })
	if !document.OK {
		return &cli.Exit{Code: cli.NotGood}
	}
	return nil
}

// templates are what was asked for: files, built-in templates, or without a word all built-in ones.
func (cmd templateValidateCommand) templates() ([]template.Template, error) {
	var names []string
	switch {
	case cmd.Template == everyTemplate, cmd.Template == "" && len(cmd.Files) == 0:
		names = template.Names()
	case cmd.Template != "":
		names = []string{cmd.Template}
	}
	var all []template.Template
	for _, name := range names {
		preset, err := findTemplate(name)
		if err != nil {
			return nil, err
		}
		all = append(all, preset)
	}
	for _, file := range cmd.Files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, &tracker.FileError{Code: "missing", File: file, Message: "cannot be read: " + err.Error(), Err: err}
		}
		all = append(all, template.Template{Name: file, Text: text})
	}
	return all, nil
}

func printResults(w io.Writer, results []templateResult) {
	for _, r := range results {
		if r.Valid {
			fmt.Fprintf(w, "%s: good\n", cli.OneLine(r.Name))
		}
		for _, d := range r.Errors {
			place := cli.OneLine(r.Name)
			if d.Line > 0 {
				place += fmt.Sprintf(":%d", d.Line)
			}
			if d.Field != "" {
				place += ": " + cli.OneLine(d.Field)
			}
			fmt.Fprintf(w, "%s: %s (%s)\n", place, cli.OneLine(d.Message), d.Code)
		}
	}
}
