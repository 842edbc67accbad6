package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"text/tabwriter"

	"aesop/examples/internal/cli"
	"aesop/tracker"
	"aesop/tracker/template"
)

// templateCommand groups the commands about templates. They need neither a repository nor a backlog.
type templateCommand struct {
	List        templateListCommand        `cmd:"" help:"List the built-in templates."`
	Validate    templateValidateCommand    `cmd:"" help:"Say what is wrong with templates: exit 1 if anything is."`
	Instantiate templateInstantiateCommand `cmd:"" help:"Make a backlog from a built-in template."`
}

type templateListCommand struct {
	JSON bool `name:"json" help:"Print one JSON document on standard output."`
}

type templateListDocument struct {
	SchemaVersion int                `json:"schemaVersion"`
	Placeholders  []string           `json:"placeholders"`
	Templates     []templateDocument `json:"templates"`
}

type templateDocument struct {
	Name  string              `json:"name"`
	Items []templateItemEntry `json:"items"`
}

type templateItemEntry struct {
	Slug  string `json:"slug"`
	Title string `json:"title"`
}

func (templateListCommand) Run(c *cli.Context) error {
	document := templateListDocument{SchemaVersion: schemaVersion, Placeholders: template.Placeholders(), Templates: []templateDocument{}}
	for _, name := range template.Names() {
		preset, err := template.Find(name)
		if err != nil {
			return err
		}
		backlog, err := tracker.Parse(name, preset.Text)
		if err != nil {
			return err
		}
		row := templateDocument{Name: name}
		for _, item := range backlog.Items {
			row.Items = append(row.Items, templateItemEntry{item.Slug, item.Title})
		}
		document.Templates = append(document.Templates, row)
	}
	c.Print(document, func(w io.Writer) {
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, t := range document.Templates {
			fmt.Fprintln(table, t.Name)
			for _, item := range t.Items {
				fmt.Fprintf(table, "  %s\t%s\n", item.Slug, item.Title)
			}
		}
		table.Flush()
	})
	return nil
}

type templateInstantiateCommand struct {
	Preset      string `arg:"" help:"Name of the template; tracker template list shows them."`
	ProjectName string `required:"" help:"What {project_name} stands for: letters, digits, dots, dashes and underscores." placeholder:"NAME"`
	BaseDir     string `required:"" help:"What {base_dir} stands for: a folder of the repository, or . for all of it." placeholder:"DIR"`
	Output      string `help:"File to write, which must not exist (default: standard output)." placeholder:"FILE"`
	JSON        bool   `name:"json" help:"Print one JSON document on standard output."`
}

func (templateInstantiateCommand) Help() string {
	return `Example:

  tracker template instantiate service --project-name shop --base-dir services/shop --output tracker.json
  tracker list

Exit 2 for a name that could mean more than itself to a shell or in a path, 4 where the file exists.`
}

type templateInstantiateDocument struct {
	SchemaVersion int      `json:"schemaVersion"`
	Template      string   `json:"template"`
	File          string   `json:"file"`
	Items         []string `json:"items"` // ids
}

func (cmd templateInstantiateCommand) Run(c *cli.Context) error {
	preset, err := findTemplate(cmd.Preset)
	if err != nil {
		return err
	}
	text, err := preset.Instantiate(template.Values{ProjectName: cmd.ProjectName, BaseDir: cmd.BaseDir})
	if value, ok := errors.AsType[*template.ValueError](err); ok {
		return &cli.Problem{Code: "usage", Message: value.Error()}
	}
	if err != nil {
		return err
	}
	if cmd.Output == "" {
		_, err := c.Stdout.Write(text) // JSON either way
		return err
	}
	backlog, err := tracker.Create(cmd.Output, text)
	if errors.Is(err, fs.ErrExist) {
		return refuse(string(tracker.ConflictExists), "name another file; nothing is overwritten", "%s exists", cmd.Output)
	}
	if err != nil {
		return err
	}
	document := templateInstantiateDocument{SchemaVersion: schemaVersion, Template: preset.Name, File: cmd.Output, Items: []string{}}
	for _, item := range backlog.Items {
		document.Items = append(document.Items, item.ID)
	}
	c.Print(document, func(w io.Writer) {
		fmt.Fprintf(w, "wrote %s, a backlog of %d items\n", cmd.Output, len(document.Items))
	})
	return nil
}

// findTemplate is the preset of a name.
func findTemplate(name string) (template.Template, error) {
	preset, err := template.Find(name)
	if unknown, ok := errors.AsType[*template.UnknownError](err); ok {
		hint := "tracker template list shows all"
		if unknown.Near != "" {
			hint = fmt.Sprintf("did you mean %q?", unknown.Near)
		}
		return preset, &cli.Problem{Code: "unknown_template", Message: unknown.Error(), Hint: hint}
	}
	return preset, err
}
