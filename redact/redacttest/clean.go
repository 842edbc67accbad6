package redacttest

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// cleanText is text without secrets that looks like some.
func cleanText(rng *rand.Rand) []string {
	const times = 6
	var all []string
	for _, shape := range slices.Concat(cleanData(), cleanCode(), cleanSettings(), cleanOutput()) {
		for range times {
			all = append(all, prose(rng, shape)+"\n")
		}
	}
	return all
}

// prose is Fill with ordinary words too: <word>, <Word>, <WORD>, <name> (of two words), <n> (a number), <version>, <date>, <time>, <uuid>
// and <file> (base64 of ordinary text).
func prose(rng *rand.Rand, shape string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(shape, "<")
		b.WriteString(before)
		if !found {
			return Fill(rng, b.String())
		}
		kind, after, _ := strings.Cut(rest, ">")
		if text := ordinary(rng, kind); text != "" {
			b.WriteString(text)
			shape = after
			continue
		}
		b.WriteByte('<')
		shape = rest
	}
}

func ordinary(rng *rand.Rand, kind string) string {
	word := func() string { return ordinaryWords[rng.IntN(len(ordinaryWords))] }
	switch kind {
	case "word":
		return word()
	case "Word":
		w := word()
		return strings.ToUpper(w[:1]) + w[1:]
	case "WORD":
		return strings.ToUpper(word())
	case "name":
		w := word()
		return word() + strings.ToUpper(w[:1]) + w[1:]
	case "n":
		return fmt.Sprint(rng.IntN(100000))
	case "version":
		return fmt.Sprintf("%d.%d.%d", rng.IntN(30), rng.IntN(30), rng.IntN(100))
	case "date":
		return fmt.Sprintf("2026-%02d-%02d", 1+rng.IntN(12), 1+rng.IntN(28))
	case "time":
		return fmt.Sprintf("%02d:%02d:%02d.%03d", rng.IntN(24), rng.IntN(60), rng.IntN(60), rng.IntN(1000))
	case "uuid":
		return Fill(rng, uuid)
	case "file":
		var text strings.Builder
		for text.Len() < 60+rng.IntN(400) {
			text.WriteString(word() + " ")
		}
		return base64.StdEncoding.EncodeToString([]byte(text.String()))
	}
	return ""
}

// ordinaryWords is a constant list.
var ordinaryWords = [...]string{"account", "adapter", "agent", "answer", "archive", "backlog", "batch", "branch", "buffer", "bundle", "cache",
	"channel", "checkout", "client", "cluster", "column", "commit", "config", "context", "cursor", "daemon", "digest", "driver", "editor",
	"engine", "event", "export", "fleet", "folder", "format", "gateway", "graph", "handler", "header", "import", "index", "input", "journal",
	"kernel", "label", "ledger", "limit", "lock", "manifest", "marker", "merge", "message", "method", "module", "monitor", "network", "node",
	"object", "output", "package", "panel", "parser", "patch", "pipeline", "planner", "policy", "process", "profile", "project", "queue",
	"record", "region", "release", "render", "report", "request", "result", "review", "router", "runner", "sample", "schema", "script",
	"server", "service", "session", "shard", "signal", "snapshot", "source", "status", "storage", "stream", "string", "summary", "system",
	"table", "target", "task", "template", "thread", "ticket", "tracker", "transcript", "tree", "update", "vector", "verify", "version",
	"wave", "widget", "window", "worker", "workspace"}
