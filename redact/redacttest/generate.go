package redacttest

import (
	"fmt"
	"math/rand/v2"
	"regexp/syntax"
	"strings"
)

// Generate makes a string that has the form of pattern, which is RE2 syntax. Repeats are near their least count, characters printable
// ASCII where the pattern leaves a choice, and letters whose case is free are as the pattern has them. What a pattern asserts about its
// neighbourhood (\b, ^, $) is not seen to: match the result before you rely on it.
func Generate(rng *rand.Rand, pattern string) (string, error) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", fmt.Errorf("generate from %q: %w", pattern, err)
	}
	g := generator{rng: rng, pattern: pattern}
	g.walk(tree)
	return g.out.String(), nil
}

type generator struct {
	rng     *rand.Rand
	pattern string
	out     strings.Builder
}

func (g *generator) walk(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		g.out.WriteString(g.literal(re))
	case syntax.OpCharClass:
		g.out.WriteRune(g.one(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		g.out.WriteRune(rune(' ' + g.rng.IntN('~'-' '+1)))
	case syntax.OpAlternate:
		g.walk(re.Sub[g.rng.IntN(len(re.Sub))])
	case syntax.OpStar:
		g.repeat(re.Sub[0], 0, -1)
	case syntax.OpPlus:
		g.repeat(re.Sub[0], 1, -1)
	case syntax.OpQuest:
		g.repeat(re.Sub[0], 0, 1)
	case syntax.OpRepeat:
		g.repeat(re.Sub[0], re.Min, re.Max)
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			g.walk(sub)
		}
	}
}

func (g *generator) repeat(re *syntax.Regexp, least, most int) {
	more := 3
	if least == 0 {
		more = 1
	}
	if most >= 0 {
		more = min(more, most-least)
	}
	for range least + g.rng.IntN(more+1) {
		g.walk(re)
	}
}

// literal is the text of a literal. The parser keeps capitals where case is free; the pattern itself says how it is written.
func (g *generator) literal(re *syntax.Regexp) string {
	text := string(re.Rune)
	if re.Flags&syntax.FoldCase == 0 {
		return text
	}
	if at := strings.Index(strings.ToLower(g.pattern), strings.ToLower(text)); at >= 0 {
		return g.pattern[at : at+len(text)]
	}
	return strings.ToLower(text)
}

// one picks from a class, which is pairs of bounds.
func (g *generator) one(class []rune) rune {
	var printable []rune
	for i := 0; i < len(class); i += 2 {
		for r := max(class[i], ' '); r <= min(class[i+1], '~'); r++ {
			printable = append(printable, r)
		}
	}
	if len(printable) > 0 {
		return printable[g.rng.IntN(len(printable))]
	}
	return class[0]
}
