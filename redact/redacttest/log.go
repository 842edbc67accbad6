package redacttest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// AgentLog is size bytes or a little more of what agents and the programs they run write: transcripts as JSON, output of builds and
// tests, source text, diffs and prose, with a token in each 64 KiB.
func AgentLog(rng *rand.Rand, size int) []byte {
	const between = 64 << 10
	hard := cleanText(rng)
	log := make([]byte, 0, size+4096)
	for next := between; len(log) < size; {
		switch n := rng.IntN(20); {
		case n < 1:
			log = append(log, hard[rng.IntN(len(hard))]...)
		case n < 5:
			log = fmt.Appendf(log, `{"type":"assistant","message":{"id":"msg_%s","content":[{"type":"text","text":"%s"}]},"session_id":"%s"}`+"\n",
				random(rng, alphabet("alnum"), 24), sentence(rng, 20+rng.IntN(60)), Fill(rng, uuid))
		case n < 8:
			log = fmt.Appendf(log, `{"type":"tool_result","tool_use_id":"toolu_%s","content":"%s\n%s\n"}`+"\n",
				random(rng, alphabet("alnum"), 24), sentence(rng, 10+rng.IntN(30)), sentence(rng, 10+rng.IntN(30)))
		case n < 14:
			log = append(log, prose(rng, "<date>T<time>Z INFO <word>/<word>.go:<n> <word> <word> <word>=<n> <word>=<word> took=<n>us\n")...)
		case n < 17:
			log = append(log, prose(rng, "\t<name> := <word>.<Word><Word>(<word>, <n>)\n\tif <name> == nil { return fmt.Errorf(\"<word> %d: <word>\", <name>) }\n")...)
		case n < 18:
			log = append(log, prose(rng, "--- PASS: Test<Word><Word>/<word>_<word> (0.{digit:2}s)\nok  \taesop/<word>/<word>\t{digit:1}.{digit:3}s\n")...)
		default:
			log = append(log, sentence(rng, 15)+"\n"...)
		}
		if len(log) >= next {
			log = append(log, Fill(rng, "pushing with ghp_{alnum:36} to origin\n")...)
			next += between
		}
	}
	return log
}

// sentence is that many ordinary words.
func sentence(rng *rand.Rand, words int) string {
	all := make([]string, words)
	for i := range all {
		all[i] = ordinaryWords[rng.IntN(len(ordinaryWords))]
		if rng.IntN(3) == 0 {
			all[i] = [...]string{"the", "of", "and", "is", "in", "to", "a"}[rng.IntN(7)]
		}
	}
	return strings.Join(all, " ") + "."
}
