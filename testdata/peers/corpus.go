package main

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"text/tabwriter"

	"aesop/redact/redacttest"
)

// result is what both find in the corpus.
type result struct {
	vendors       map[string]*vendor
	missed        []redacttest.Secret // by aesop
	cleanLines    int
	aesop         []mistake // what aesop finds in clean text
	gitleaksClean int       // how much gitleaks does
}

type vendor struct{ secrets, gitleaks, aesop int }

// mistake is a secret found where there is none.
type mistake struct{ rule, text string }

func (p *peers) corpus(rng *rand.Rand) result {
	r := result{vendors: map[string]*vendor{}}
	secrets, clean := redacttest.Corpus(rng)
	for _, s := range secrets {
		v := r.vendors[s.Vendor]
		if v == nil {
			v = &vendor{}
			r.vendors[s.Vendor] = v
		}
		v.secrets++
		if p.gitleaksTakes(s) {
			v.gitleaks++
		}
		if _, taken := p.takes(s.Text, s.Start, s.End, true); taken && !strings.Contains(p.aesop.String(s.Text), s.Value()) {
			v.aesop++
		} else {
			r.missed = append(r.missed, s)
		}
	}
	for _, text := range clean {
		r.cleanLines += strings.Count(text, "\n")
		for _, f := range p.aesop.Explain([]byte(text)) {
			r.aesop = append(r.aesop, mistake{f.Rule, text})
		}
		r.gitleaksClean += len(p.gitleaks.DetectString(text))
	}
	return r
}

// gitleaksTakes says whether gitleaks finds the most of a secret.
func (p *peers) gitleaksTakes(s redacttest.Secret) bool {
	for _, f := range p.gitleaks.DetectString(s.Text) {
		if strings.Contains(f.Secret, s.Value()) || strings.Contains(s.Value(), f.Secret) && len(f.Secret)*2 > len(s.Value()) {
			return true
		}
	}
	return false
}

func report(w io.Writer, classes []class, r result) {
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "rule of gitleaks\tsamples\tgitleaks\taesop\tby")
	for _, c := range classes {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%s\n", c.rule, c.samples, c.samples, c.samples-len(c.missed), strings.Join(slices.Sorted(maps.Keys(c.by)), ", "))
	}
	for _, rule := range slices.Sorted(maps.Keys(fileOnly())) {
		fmt.Fprintf(table, "%s\t-\t-\t-\t%s\n", rule, fileOnly()[rule])
	}
	fmt.Fprintln(table, "\nvendor\tsecrets\tgitleaks\taesop")
	total := vendor{}
	for _, name := range slices.Sorted(maps.Keys(r.vendors)) {
		v := r.vendors[name]
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\n", name, v.secrets, v.gitleaks, v.aesop)
		total = vendor{total.secrets + v.secrets, total.gitleaks + v.gitleaks, total.aesop + v.aesop}
	}
	fmt.Fprintf(table, "all\t%d\t%d\t%d\n", total.secrets, total.gitleaks, total.aesop)
	fmt.Fprintf(table, "\n\tlines\tgitleaks\taesop\nwrongly found in clean text\t%d\t%d\t%d\n", r.cleanLines, r.gitleaksClean, len(r.aesop))
	table.Flush()
}
