package aesop

import (
	"aesop/driver/claude"
	"aesop/driver/codex"
	"aesop/driver/command"
	"aesop/driver/script"
	"aesop/wave"
)

// builtinDriver is a driver that can be named.
type builtinDriver struct {
	name string
	open func(Config) (Driver, error)
}

func builtin() []builtinDriver {
	return []builtinDriver{
		{"claude", func(Config) (Driver, error) { return claude.New(claude.Config{}) }},
		{"codex", func(Config) (Driver, error) { return codex.New(codex.Config{}) }},
		{"command", func(c Config) (Driver, error) {
			if c.AgentCmd == "" {
				return nil, &wave.SetupError{Code: "usage", Message: "the command driver needs a command", Hint: "name it in agentCmd"}
			}
			return command.New(command.Config{Line: c.AgentCmd})
		}},
		{"script", func(c Config) (Driver, error) {
			if c.Script == "" {
				return nil, &wave.SetupError{Code: "usage", Message: "the script driver needs a script", Hint: "name its file"}
			}
			return script.Open(c.Script)
		}},
	}
}

// Drivers are the names of the built-in drivers.
func Drivers() []string {
	var names []string
	for _, b := range builtin() {
		names = append(names, b.name)
	}
	return names
}
