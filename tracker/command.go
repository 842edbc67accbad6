package tracker

import "strings"

// Command is a test command: a line for sh -c, or an argument vector.
type Command struct {
	Shell string
	Argv  []string
}

// Words is the argument vector to run; nil for the zero Command.
func (c Command) Words() []string {
	if c.Shell != "" {
		return []string{"sh", "-c", c.Shell}
	}
	return c.Argv
}

// String is the command as one would type it, for people: the line, or the arguments quoted for a shell where they need it.
func (c Command) String() string {
	if c.Shell != "" {
		return c.Shell
	}
	quoted := make([]string, len(c.Argv))
	for i, word := range c.Argv {
		quoted[i] = word
		if word == "" || strings.ContainsAny(word, " \t\n\"'`$&|;<>()*?[]#~%!\\{}") {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

func (c Command) blank() bool {
	return strings.TrimSpace(c.Shell) == "" && (len(c.Argv) == 0 || strings.TrimSpace(c.Argv[0]) == "")
}
