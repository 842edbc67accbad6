package cost_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"aesop/cost"
)

func TestAdd(t *testing.T) {
	a := cost.Usage{Model: "m", Input: 1, CacheRead: 2, CacheWrite5m: 3, CacheWrite1h: 4, Output: 5, Reasoning: 6, Metered: true}
	b := cost.Usage{Model: "m", Input: 10, CacheRead: 20, CacheWrite5m: 30, CacheWrite1h: 40, Output: 50, Reasoning: 60, Metered: true}
	want := cost.Usage{Model: "m", Input: 11, CacheRead: 22, CacheWrite5m: 33, CacheWrite1h: 44, Output: 55, Reasoning: 66, Metered: true}
	if got := a.Add(b); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	b.Model, want.Model = "n", ""
	if got := a.Add(b); got != want {
		t.Errorf("of two models: got %+v, want %+v", got, want)
	}
}

func TestOneUnmeteredCallLeavesTheSumUnknown(t *testing.T) {
	known, unknown := cost.Usage{Input: 1, Metered: true}, cost.Usage{}
	for _, test := range []struct {
		all  []cost.Usage
		want cost.Usage
	}{
		{nil, cost.Usage{}},
		{[]cost.Usage{known}, known},
		{[]cost.Usage{known, known}, cost.Usage{Input: 2, Metered: true}},
		{[]cost.Usage{known, unknown}, cost.Usage{Input: 1}},
		{[]cost.Usage{unknown, known}, cost.Usage{Input: 1}},
	} {
		if got := cost.Sum(test.all...); got != test.want {
			t.Errorf("sum of %+v: got %+v, want %+v", test.all, got, test.want)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		usage cost.Usage
		want  string // part of the error; empty: none
	}{
		{cost.Usage{}, ""},
		{cost.Usage{Output: 5, Reasoning: 5}, ""},
		{cost.Usage{Output: 5, Reasoning: 6}, "reasoning is 6, more than the output of 5"},
		{cost.Usage{Input: -1}, "input is -1"},
		{cost.Usage{CacheRead: -1}, "cacheRead is -1"},
		{cost.Usage{CacheWrite5m: -1}, "cacheWrite5m is -1"},
		{cost.Usage{CacheWrite1h: -1}, "cacheWrite1h is -1"},
		{cost.Usage{Output: -1, Reasoning: -1}, "output is -1"},
		{cost.Usage{Reasoning: -1}, "reasoning is -1"},
	} {
		err := test.usage.Check()
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: got %v, want %q", test.usage, err, test.want)
		}
	}
}

func TestJSON(t *testing.T) {
	for _, test := range []struct {
		usage cost.Usage
		want  string
	}{
		{cost.Usage{Input: 7, Output: 3}, // part of the truth is not told as if it were the whole
			`{"input":null,"cacheRead":null,"cacheWrite5m":null,"cacheWrite1h":null,"output":null,"reasoning":null,"metered":false}`},
		{cost.Usage{Metered: true},
			`{"input":0,"cacheRead":0,"cacheWrite5m":0,"cacheWrite1h":0,"output":0,"reasoning":0,"metered":true}`},
		{cost.Usage{Model: "m", Input: 1, CacheRead: 2, CacheWrite5m: 3, CacheWrite1h: 4, Output: 6, Reasoning: 5, Metered: true},
			`{"model":"m","input":1,"cacheRead":2,"cacheWrite5m":3,"cacheWrite1h":4,"output":6,"reasoning":5,"metered":true}`},
	} {
		got, err := json.Marshal(test.usage)
		if err != nil || string(got) != test.want {
			t.Errorf("got %s, %v\nwant %s", got, err, test.want)
		}
		var back cost.Usage
		if err := json.Unmarshal(got, &back); err != nil || test.usage.Metered && back != test.usage || back.Metered != test.usage.Metered {
			t.Errorf("read back: %+v, %v", back, err)
		}
	}
	var u cost.Usage
	if err := json.Unmarshal([]byte(`{"input": "many"}`), &u); err == nil {
		t.Error("a text was taken for a count")
	}
	for _, text := range []string{`{"metered":true}`, `{"input":1,"metered":true}`, `{"input":null,"output":1,"metered":true}`} {
		if err := json.Unmarshal([]byte(text), &u); err == nil {
			t.Errorf("%s was read as %+v: what is missing is not 0", text, u)
		}
	}
	if err := json.Unmarshal([]byte(`{"input":1,"output":2,"metered":true}`), &u); err != nil || u != (cost.Usage{Input: 1, Output: 2, Metered: true}) {
		t.Errorf("got %+v, %v", u, err)
	}
}

func ExampleSum() {
	sum := cost.Sum(
		cost.Usage{Model: "small", Input: 900, Output: 40, Metered: true},
		cost.Usage{Model: "small", Input: 100, CacheRead: 900, Output: 12, Metered: true},
	)
	fmt.Println(sum.Model, sum.Input, sum.CacheRead, sum.Output, sum.Metered)
	unknown, _ := json.Marshal(sum.Add(cost.Usage{}))
	fmt.Println(string(unknown))
	// Output:
	// small 1000 900 52 true
	// {"input":null,"cacheRead":null,"cacheWrite5m":null,"cacheWrite1h":null,"output":null,"reasoning":null,"metered":false}
}
