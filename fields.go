package aesop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"aesop/internal/document"
	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/policy"
)

// field is one key of the configuration: how it is read from the file, from a flag or variable, and shown.
type field struct {
	name     string
	fromNode func(*Settings, document.Node) error
	fromText func(*Settings, string) error
	show     func(Settings) any
}

// fields are all keys, in the order in which wave config shows them.
func fields() []field {
	return []field{
		text("tracker", "tracker.json", func(s *Settings) *string { return &s.Tracker }),
		text("state", "", func(s *Settings) *string { return &s.State }),
		text("store", "", func(s *Settings) *string { return &s.Store }),
		text("remote", "", func(s *Settings) *string { return &s.Remote }),
		text("base", "", func(s *Settings) *string { return &s.Base }),
		choice(text("ship", "push", func(s *Settings) *string { return &s.Ship }), "push", "local"),
		text("driver", "", func(s *Settings) *string { return &s.Driver }),
		text("model", "", func(s *Settings) *string { return &s.Model }),
		text("agentCmd", "", func(s *Settings) *string { return &s.AgentCmd }),
		commandLine("verify", func(s *Settings) *tracker.Command { return &s.Verify }),
		list("prepare", func(s *Settings) *[]string { return &s.Prepare }),
		list("carry", func(s *Settings) *[]string { return &s.Carry }),
		list("passEnv", func(s *Settings) *[]string { return &s.PassEnv }),
		number("maxItems", wave.DefaultMaxItems, func(s *Settings) *int { return &s.MaxItems }),
		number("parallel", wave.DefaultParallel, func(s *Settings) *int { return &s.Parallel }),
		duration("agentTimeout", wave.DefaultAgentTimeout, func(s *Settings) *time.Duration { return &s.AgentTimeout }),
		duration("idleTimeout", wave.DefaultIdleTimeout, func(s *Settings) *time.Duration { return &s.IdleTimeout }),
		duration("testTimeout", wave.DefaultTestTimeout, func(s *Settings) *time.Duration { return &s.TestTimeout }),
		duration("lease", wave.DefaultLease, func(s *Settings) *time.Duration { return &s.Lease }),
		number("maxAttempts", wave.DefaultMaxAttempts, func(s *Settings) *int { return &s.MaxAttempts }),
		truth("allowRedBase", func(s *Settings) *bool { return &s.AllowRedBase }),
		list("protectedBranches", func(s *Settings) *[]string { return &s.ProtectedBranches }),
		truth("supervise", func(s *Settings) *bool { return &s.Supervise }),
		limitsField("limits", func(s *Settings) *Limits { return &s.Limits }),
		policyField("policy", func(s *Settings) *policy.Override { return &s.Policy }),
		notifyField("notify", func(s *Settings) *[]Notify { return &s.Notify }),
	}
}

// newField builds a field from how its text is parsed and how its node is turned into a value.
func newField[T any](name string, at func(*Settings) *T, node func(document.Node) (T, error), parse func(string) (T, error), show func(T) any) field {
	return field{
		name: name,
		fromNode: func(s *Settings, n document.Node) error {
			v, err := node(n)
			if err == nil {
				*at(s) = v
			}
			return err
		},
		fromText: func(s *Settings, text string) error {
			v, err := parse(text)
			if err == nil {
				*at(s) = v
			}
			return err
		},
		show: func(s Settings) any { return show(*at(&s)) },
	}
}

func text(name, standard string, at func(*Settings) *string) field {
	return newField(name, at, document.Node.Text, func(t string) (string, error) { return t, nil }, func(v string) any {
		switch {
		case v != "":
			return v
		case standard != "":
			return standard
		}
		return nil
	})
}

// choice narrows a text field to some words.
func choice(f field, words ...string) field {
	fromNode, fromText := f.fromNode, f.fromText
	check := func(s *Settings) error {
		if v, _ := f.show(*s).(string); !slices.Contains(words, v) {
			return fmt.Errorf("is %q, must be one of %s", v, strings.Join(words, ", "))
		}
		return nil
	}
	f.fromNode = func(s *Settings, n document.Node) error {
		if err := fromNode(s, n); err != nil {
			return err
		}
		if err := check(s); err != nil {
			return n.Errorf("shape", "%v", err)
		}
		return nil
	}
	f.fromText = func(s *Settings, t string) error {
		if err := fromText(s, t); err != nil {
			return err
		}
		return check(s)
	}
	return f
}

func number(name string, standard int, at func(*Settings) *int) field {
	positive := func(v int64) (int, error) {
		if v < 1 || v > 1_000_000 {
			return 0, fmt.Errorf("is %d, must be from 1 to 1000000", v)
		}
		return int(v), nil
	}
	return newField(name, at, func(n document.Node) (int, error) {
		v, err := n.Int()
		if err != nil {
			return 0, err
		}
		return inFile(n, v, positive)
	}, func(t string) (int, error) {
		v, err := strconv.ParseInt(t, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("is %q, must be a whole number", t)
		}
		return positive(v)
	}, func(v int) any { return orStandard(v, standard) })
}

func duration(name string, standard time.Duration, at func(*Settings) *time.Duration) field {
	parse := func(t string) (time.Duration, error) {
		d, err := time.ParseDuration(t)
		if err != nil || d <= 0 {
			return 0, fmt.Errorf("is %q, must be a duration such as 30m or 90s", t)
		}
		return d, nil
	}
	return newField(name, at, func(n document.Node) (time.Duration, error) {
		t, err := n.Text()
		if err != nil {
			return 0, err
		}
		return inFile(n, t, parse)
	}, parse, func(v time.Duration) any { return durationText(orStandard(v, standard)) })
}

// durationText is a duration without the zero units that String ends with.
func durationText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func truth(name string, at func(*Settings) *bool) field {
	return newField(name, at, document.Node.Bool, func(t string) (bool, error) {
		v, err := strconv.ParseBool(t)
		if err != nil {
			return false, fmt.Errorf("is %q, must be true or false", t)
		}
		return v, nil
	}, func(v bool) any { return v })
}

// list is an array of strings; in a variable or flag its entries stand between commas.
func list(name string, at func(*Settings) *[]string) field {
	return newField(name, at, document.Node.Strings, func(t string) ([]string, error) {
		var entries []string
		for entry := range strings.SplitSeq(t, ",") {
			if entry = strings.TrimSpace(entry); entry != "" {
				entries = append(entries, entry)
			}
		}
		return entries, nil
	}, func(v []string) any { return append([]string{}, v...) })
}

// commandLine is a line for sh -c or, in the file, an argument vector. One that is only blanks would pass whatever it is to test.
func commandLine(name string, at func(*Settings) *tracker.Command) field {
	parse := func(t string) (tracker.Command, error) {
		if t != "" && strings.TrimSpace(t) == "" {
			return tracker.Command{}, fmt.Errorf("names no program")
		}
		return tracker.Command{Shell: t}, nil
	}
	return newField(name, at, func(n document.Node) (tracker.Command, error) {
		line, argv, err := n.Command()
		switch {
		case err != nil:
			return tracker.Command{}, err
		case n.Kind() != "array":
			return inFile(n, line, parse)
		case len(argv) == 0 || strings.TrimSpace(argv[0]) == "":
			return tracker.Command{}, n.Errorf("shape", "names no program")
		}
		return tracker.Command{Argv: argv}, nil
	}, parse, func(v tracker.Command) any {
		switch {
		case v.Shell != "":
			return v.Shell
		case v.Argv != nil:
			return v.Argv
		}
		return nil
	})
}

// limitsField is an object in the file, and one in JSON as a variable or flag.
func limitsField(name string, at func(*Settings) *Limits) field {
	return newField(name, at, readLimits, func(t string) (Limits, error) { return parsed(t, readLimits) }, func(v Limits) any {
		if v.JSON == "" {
			return nil
		}
		return json.RawMessage(v.JSON)
	})
}

// policyField is an object in the file, and one in JSON as a variable or flag.
func policyField(name string, at func(*Settings) *policy.Override) field {
	return newField(name, at, policy.Read, func(t string) (policy.Override, error) { return parsed(t, policy.Read) }, func(v policy.Override) any {
		if !v.Set() {
			return nil
		}
		return v
	})
}

// notifyField is a list of objects in the file, and one in JSON as a variable or flag.
func notifyField(name string, at func(*Settings) *[]Notify) field {
	return newField(name, at, readNotify, func(t string) ([]Notify, error) { return parsed(t, readNotify) }, func(v []Notify) any {
		if v == nil {
			return nil
		}
		return v
	})
}

func inFile[V, T any](n document.Node, v V, check func(V) (T, error)) (T, error) {
	t, err := check(v)
	if err != nil {
		err = n.Errorf("shape", "%v", err)
	}
	return t, err
}

func orStandard[T comparable](v, standard T) T {
	var zero T
	if v == zero {
		return standard
	}
	return v
}
