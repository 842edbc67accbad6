package cost_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"aesop/cost"
)

// TestNoNameSpoilsALine: every name of a call is looked at, also one that is added one day.
func TestNoNameSpoilsALine(t *testing.T) {
	good := cost.Call{ID: "a", At: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"a\nb", "a\x00", "a\x7f", "\xff", strings.Repeat("x", 513)} {
		c := good
		c.Usage.Model = bad
		if c.Check() == nil {
			t.Errorf("the model may be %q", bad)
		}
		for i := range reflect.TypeFor[cost.Call]().NumField() {
			c := good
			field := reflect.ValueOf(&c).Elem().Field(i)
			if field.Kind() != reflect.String {
				continue
			}
			field.SetString(bad)
			if c.Check() == nil {
				t.Errorf("%s may be %q", reflect.TypeFor[cost.Call]().Field(i).Name, bad)
			}
		}
	}
}
