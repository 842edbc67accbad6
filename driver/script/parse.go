package script

import (
	"fmt"
	"io/fs"
	"strings"
	"time"

	"aesop/driver"
	"aesop/internal/agentproc"
	"aesop/internal/document"
)

// Parse reads a script that came from the named file.
func Parse(name string, data []byte) (*Driver, error) {
	doc, err := document.Parse(name, data)
	if err != nil {
		return nil, err
	}
	slugs, err := doc.Root().Object()
	if err != nil {
		return nil, err
	}
	d := &Driver{file: name, attempts: make(map[string][]attempt, len(slugs))}
	for _, slug := range slugs {
		nodes, err := slug.Value.Array()
		if err != nil {
			return nil, err
		}
		if len(nodes) == 0 {
			return nil, slug.Value.Errorf("shape", "is empty, must hold an attempt")
		}
		for _, node := range nodes {
			a, err := parseAttempt(node)
			if err != nil {
				return nil, err
			}
			d.attempts[slug.Name] = append(d.attempts[slug.Name], a)
		}
	}
	return d, nil
}

func parseAttempt(n document.Node) (attempt, error) {
	var a attempt
	members, err := n.Object()
	if err != nil {
		return a, err
	}
	for _, m := range members {
		switch m.Name {
		case "sleep":
			a.sleep, err = parseSleep(m.Value)
		case "files":
			a.files, err = parseFiles(m.Value)
		case "delete":
			a.remove, err = parsePaths(m.Value)
		case "exec":
			a.exec, err = parseExec(m.Value)
		case "say":
			a.say, err = m.Value.Text()
		case "usage":
			usage, usageErr := agentproc.Usage(m.Value)
			a.usage, err = &usage, usageErr
		case "fail":
			a.fail, err = parseFail(m.Value)
		default:
			err = m.Unknown([]string{"sleep", "files", "delete", "exec", "say", "usage", "fail"})
		}
		if err != nil {
			return attempt{}, err
		}
	}
	return a, nil
}

func parseSleep(n document.Node) (time.Duration, error) {
	text, err := n.Text()
	if err != nil {
		return 0, err
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, hinted(n.Errorf("shape", "%q is no duration", text), "write one such as 1.5s or 2m")
	}
	return d, nil
}

func parseFiles(n document.Node) ([]file, error) {
	members, err := n.Object()
	if err != nil {
		return nil, err
	}
	files := make([]file, len(members))
	for i, m := range members {
		if err := checkPath(m.Value, m.Name); err != nil {
			return nil, err
		}
		if files[i].text, err = m.Value.Text(); err != nil {
			return nil, err
		}
		files[i].path = m.Name
	}
	return files, nil
}

func parsePaths(n document.Node) ([]string, error) {
	nodes, err := n.Array()
	if err != nil {
		return nil, err
	}
	paths := make([]string, len(nodes))
	for i, node := range nodes {
		if paths[i], err = node.Text(); err != nil {
			return nil, err
		}
		if err := checkPath(node, paths[i]); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// checkPath wants the plain name of something in the tree. Whether the item owns it is for the engine to find out.
func checkPath(n document.Node, path string) error {
	if path == "." || !fs.ValidPath(path) {
		return hinted(n.Errorf("shape", "%q is no path inside the tree", path), "write it relative to the root, with slashes, without . and ..")
	}
	return nil
}

func parseExec(n document.Node) ([]string, error) {
	line, argv, err := n.Command()
	switch {
	case err != nil:
		return nil, err
	case strings.TrimSpace(line) != "":
		return []string{"sh", "-c", line}, nil
	case len(argv) == 0 || argv[0] == "":
		return nil, n.Errorf("shape", "names no program")
	}
	return argv, nil
}

func parseFail(n document.Node) (driver.Class, error) {
	text, err := n.Text()
	if err != nil {
		return "", err
	}
	if class := driver.Class(text); class.Known() {
		return class, nil
	}
	var known []string
	for _, class := range driver.Classes() {
		known = append(known, string(class))
	}
	hint := "classes: " + strings.Join(known, ", ")
	if near := document.Nearest(text, known); near != "" {
		hint = fmt.Sprintf("did you mean %q? %s", near, hint)
	}
	return "", hinted(n.Errorf("shape", "%q is no error class", text), hint)
}

func hinted(e *document.Error, hint string) error {
	e.Hint = hint
	return e
}
