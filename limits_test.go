package aesop_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aesop"
	"aesop/cost"
)

func TestEveryLimitIsRead(t *testing.T) {
	s, _, err := aesop.LoadSettings(sources(`{"limits": {
		"waveUsd": "5", "waveTokens": 1, "dayUsd": "0.000000001", "dayTokens": 2, "itemUsd": "1.25", "itemTokens": 3,
		"models": {"claude-opus-5-5": {"dayUsd": "2.00", "dayTokens": 4}},
		"soft": {"waveUsd": "4.00", "models": {"m": {"dayTokens": 5}}},
		"attemptUsd": "0.000000001", "attemptTokens": 1, "unpriced": "refuse", "unmetered": "allow", "prices": "prices.json"}}`, nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, l := range s.Limits.Limits {
		names = append(names, l.Name())
	}
	want := []string{"waveUsd", "waveTokens", "dayUsd", "dayTokens", "itemUsd", "itemTokens", "models.claude-opus-5-5.dayUsd",
		"models.claude-opus-5-5.dayTokens", "soft.waveUsd", "soft.models.m.dayTokens"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	figures := []cost.Limit{s.Limits.Limits[2], s.Limits.Limits[4], s.Limits.Limits[7], s.Limits.Limits[8]}
	if diff := cmp.Diff([]cost.Limit{{Scope: cost.PerDay, Money: 1}, {Scope: cost.PerItem, Money: cost.Dollar * 5 / 4},
		{Scope: cost.PerModel, Model: "claude-opus-5-5", Tokens: 4}, {Scope: cost.PerWave, Money: 4 * cost.Dollar, Soft: true}}, figures); diff != "" {
		t.Error(diff)
	}
	if s.Limits.Attempt != (cost.Amount{Tokens: 1, Money: 1}) || s.Limits.Unpriced != cost.Refuse || s.Limits.Unmetered != cost.Allow ||
		s.Limits.Prices != filepath.FromSlash("/conf/prices.json") {
		t.Errorf("%+v", s.Limits)
	}
}

func TestLimitsThatCannotBe(t *testing.T) {
	for text, says := range map[string]string{
		`{"waveUSD": "5"}`:                    `did you mean "waveUsd"?`,
		`{"waveUsd": 5}`:                      `limits.waveUsd: must be dollars in a string, such as "5.00"`,
		`{"waveUsd": "-5"}`:                   "is not an amount of dollars",
		`{"waveUsd": "NaN"}`:                  "is not an amount of dollars",
		`{"waveUsd": "1e3"}`:                  "is not an amount of dollars",
		`{"waveUsd": "0.0000000001"}`:         "at most nine decimals",
		`{"waveUsd": "99999999999999"}`:       "more than can be counted",
		`{"waveUsd": "0.00"}`:                 "leave the key out",
		`{"dayTokens": 0}`:                    "must be from 1",
		`{"dayTokens": -1}`:                   "must be from 1",
		`{"dayTokens": 1.5}`:                  "must be a whole number",
		`{"unpriced": "guess"}`:               "must be one of refuse, estimate, allow",
		`{"models": {"m": {"waveUsd": "1"}}}`: `did you mean "dayUsd"?`,
		`{"waveUsd": "1", "attemptUsd": "5"}`: "limit waveUsd is $1.00, and one attempt may use $5.00: none could ever begin",
		`{"models": {" ": {}}}`:               "names no model",
		`{"soft": {"attemptUsd": "1"}}`:       "limits.soft.attemptUsd: no such key",
	} {
		_, _, err := aesop.LoadSettings(sources(`{"limits": `+text+`}`, nil, nil))
		e, ok := errors.AsType[*aesop.FileError](err)
		if !ok || !strings.Contains(e.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestLimitsInAVariable replace those of the file, and their errors say where they are.
func TestLimitsInAVariable(t *testing.T) {
	s, _, err := aesop.LoadSettings(sources(`{"limits": {"waveUsd": "5.00"}}`, map[string]string{"AESOP_LIMITS": `{"dayTokens": 7}`}, nil))
	if err != nil || len(s.Limits.Limits) != 1 || s.Limits.Limits[0] != (cost.Limit{Scope: cost.PerDay, Tokens: 7}) {
		t.Errorf("%+v, %v", s.Limits, err)
	}
	_, _, err = aesop.LoadSettings(sources("", map[string]string{"AESOP_LIMITS": `{"soft": {"dayToken": 7}}`}, nil))
	if err == nil || !strings.Contains(err.Error(), `AESOP_LIMITS: soft.dayToken: no such key (did you mean "dayTokens"?)`) {
		t.Error(err)
	}
}
