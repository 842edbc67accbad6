package policy_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aesop/internal/document"
	"aesop/wave/policy"
)

func TestTable(t *testing.T) {
	for tier, want := range map[int]policy.Policy{
		1: {SpotCheck: 0.10, Repairs: 1, Review: 0}, 2: {SpotCheck: 0.50, Repairs: 2, Review: 0.10}, 3: {SpotCheck: 1, Repairs: 2, Review: 0.20},
		4: {SpotCheck: 1, Repairs: 3, Review: 0.30}, 0: policy.For(4), -1: policy.For(4), 5: policy.For(4),
	} {
		if got := policy.For(tier); got != want {
			t.Errorf("tier %d: %+v", tier, got)
		}
		if err := policy.For(tier).Check(); err != nil {
			t.Error(err)
		}
	}
	// Less trust never means less proof.
	for tier := 2; tier <= policy.LeastTrusted; tier++ {
		less, more := policy.For(tier-1), policy.For(tier)
		if more.SpotCheck < less.SpotCheck || more.Repairs < less.Repairs || more.Review < less.Review {
			t.Errorf("tier %d asks less than the one before it", tier)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, bad := range []policy.Policy{{SpotCheck: -0.1}, {SpotCheck: 1.1}, {SpotCheck: math.NaN()}, {Repairs: -1}, {Repairs: 11}, {Review: math.Inf(1)}} {
		if bad.Check() == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

func TestCount(t *testing.T) {
	for _, tt := range []struct {
		share   float64
		n, want int
	}{{0, 5, 0}, {-1, 5, 0}, {0.1, 0, 0}, {0.1, 1, 1}, {0.1, 10, 1}, {0.1, 11, 2}, {0.1, 30, 3}, {0.3, 10, 3}, {0.5, 3, 2}, {1, 7, 7}, {1e-12, 3, 1}, {1, 1 << 20, 1 << 20}} {
		if got := policy.Count(tt.share, tt.n); got != tt.want {
			t.Errorf("%v of %d: %d, want %d", tt.share, tt.n, got, tt.want)
		}
	}
	for n := range 200 { // every percentage is what it says
		for percent := range 101 {
			if got, want := policy.Count(float64(percent)/100, n), (percent*n+99)/100; got != want {
				t.Fatalf("%d%% of %d: %d, want %d", percent, n, got, want)
			}
		}
	}
}

// TestChoiceIsTheSameWhateverTheOrder, and who picks more, at once or later, picks the same ones first.
func TestChoiceIsTheSameWhateverTheOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		slugs := make([]string, random.IntN(20))
		for i := range slugs {
			slugs[i] = fmt.Sprintf("item-%d-%d", i, random.IntN(1000))
		}
		n, key, wave := random.IntN(22), []byte{byte(random.IntN(256))}, fmt.Sprint(random.IntN(1000))
		chosen := policy.Choose(key, wave, policy.Review, n, slugs)
		if len(chosen) != min(n, len(slugs)) {
			t.Fatalf("%d of %d chosen for %d", len(chosen), len(slugs), n)
		}
		shuffled := slices.Clone(slugs)
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if diff := cmp.Diff(chosen, policy.Choose(key, wave, policy.Review, n, shuffled)); diff != "" {
			t.Fatalf("in another order: %s", diff)
		}
		more := policy.Choose(key, wave, policy.Review, n+random.IntN(5), slugs)
		left := slices.DeleteFunc(slices.Clone(slugs), func(s string) bool { return slices.Contains(chosen, s) })
		if later := policy.Choose(key, wave, policy.Review, len(more)-len(chosen), left); !slices.Equal(slices.Concat(chosen, later), more) {
			t.Fatalf("%v, then %v; at once %v", chosen, later, more)
		}
		for i, slug := range chosen {
			if !slices.Contains(slugs, slug) || slices.Contains(chosen[:i], slug) || more[i] != slug {
				t.Fatalf("%v chosen of %v; with more %v", chosen, slugs, more)
			}
		}
	}
}

// TestChoiceCannotBeForeseen: key, wave and purpose each change it, and over many waves everybody has a turn.
func TestChoiceCannotBeForeseen(t *testing.T) {
	slugs := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	turns := map[string]int{}
	differ := map[string]bool{}
	for n := range 400 {
		wave := fmt.Sprint(n)
		chosen := policy.Choose([]byte("k"), wave, policy.SpotCheck, 2, slugs)
		for _, slug := range chosen {
			turns[slug]++
		}
		differ["key"] = differ["key"] || !slices.Equal(chosen, policy.Choose([]byte("l"), wave, policy.SpotCheck, 2, slugs))
		differ["purpose"] = differ["purpose"] || !slices.Equal(chosen, policy.Choose([]byte("k"), wave, policy.Review, 2, slugs))
		differ["wave"] = differ["wave"] || !slices.Equal(chosen, policy.Choose([]byte("k"), wave+"x", policy.SpotCheck, 2, slugs))
	}
	if len(differ) != 3 || !differ["key"] || !differ["purpose"] || !differ["wave"] {
		t.Errorf("what changes the choice: %v", differ)
	}
	for _, slug := range slugs {
		if n := turns[slug]; n < 50 || n > 150 { // 100 are due
			t.Errorf("%s was chosen %d times of 400", slug, n)
		}
	}
}

func read(t *testing.T, text string) (policy.Override, error) {
	t.Helper()
	doc, err := document.Parse("aesop.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return policy.Read(doc.Root())
}

func TestRead(t *testing.T) {
	o, err := read(t, `{"tier": 2, "repairs": 0, "review": 1, "reviewer": {"driver": "command", "model": "m", "agentCmd": "judge", "script": "s.json"}}`)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := o.For(1), (policy.Policy{SpotCheck: 0.5, Repairs: 0, Review: 1}); got != want {
		t.Errorf("%+v", got)
	}
	if got := o.Reviewer; *got != (policy.Seat{Driver: "command", Model: "m", AgentCmd: "judge", Script: "s.json"}) {
		t.Errorf("%+v", got)
	}
	if o, err = read(t, `{"spotCheck": 0}`); err != nil || o.For(3) != (policy.Policy{SpotCheck: 0, Repairs: 2, Review: 0.2}) {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err = read(t, `{}`); err != nil || o.Set() || o.For(2) != policy.For(2) {
		t.Errorf("%+v, %v", o, err)
	}
	if data, err := json.Marshal(o); err != nil || string(data) != "{}" {
		t.Errorf("%s, %v", data, err)
	}
}

func TestReadRefuses(t *testing.T) {
	for text, complaint := range map[string]string{
		`[]`:                           "is an array, must be an object",
		`{"spotcheck": 1}`:             `did you mean "spotCheck"?`,
		`{"tier": 0}`:                  "tier: is 0, must be from 1 to 4",
		`{"tier": 2.5}`:                "must be a whole number",
		`{"tier": null}`:               "is null",
		`{"repairs": 11}`:              "repairs: is 11, must be from 0 to 10",
		`{"spotCheck": 1.5}`:           "spotCheck: is 1.5, must be a share from 0 to 1",
		`{"spotCheck": "all"}`:         "is a string, must be a number",
		`{"review": -0.1}`:             "review: is -0.1",
		`{"review": 1e999}`:            "too large",
		`{"reviewer": "claude"}`:       "is a string, must be an object",
		`{"reviewer": {}}`:             "reviewer: names no driver",
		`{"reviewer": {"driver": ""}}`: "reviewer.driver: is empty",
		`{"reviewer": {"driver": "x", "modl": ""}}`:   `did you mean "model"?`,
		`{"reviewer": {"driver": "x", "model": 3}}`:   "reviewer.model: is a number",
		`{"reviewer": {"driver": "x"}, "reviewer":1}`: "stands twice",
	} {
		if _, err := read(t, text); err == nil || !strings.Contains(err.Error(), complaint) || !strings.HasPrefix(err.Error(), "aesop.json:1: ") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
