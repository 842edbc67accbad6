package aesop

import (
	"context"
	"reflect"
	"testing"

	"go.uber.org/zap"

	"aesop/cost"
	"aesop/cost/price"
	"aesop/driver/script"
	"aesop/statestore"
	"aesop/statestore/outbox"
	"aesop/tracker"
	"aesop/wave"
	"aesop/wave/journal"
)

// part is everything that a Config can be given.
type part struct{ name string }

func (part) Review(context.Context, wave.Change) (wave.Judgement, error) {
	return wave.Judgement{}, nil
}
func (part) Approve(context.Context, wave.Change) (wave.Judgement, error) {
	return wave.Judgement{}, nil
}
func (part) Version() string                         { return "" }
func (part) Prompt(wave.PromptInput) (string, error) { return "", nil }
func (part) Observe(*journal.Wave, journal.Event)    {}

// notScheduler are the fields that are for Open itself, and those that it refuses where they are set.
var notScheduler = map[string]bool{"Settings": true, "Script": true, "Agent": true, "AgentCmd": true,
	"Store": true, "Ship": true, "Prepare": true, "Carry": true, "Supervise": true, "Limits": true, "Policy": true, "Notify": true}

// chosenByOpen are the fields of wave.Config that come from what Open made, and those whose default it leaves.
var chosenByOpen = map[string]bool{"Repo": true, "State": true, "Tracker": true, "Store": true, "Driver": true,
	"Owner": true, "Shipper": true, "Clock": true, "Rand": true, "Lookup": true}

// TestEveryFieldReachesTheScheduler: each field of Config and Settings is in the scheduler's configuration under the same name, or in
// one of the lists above.
func TestEveryFieldReachesTheScheduler(t *testing.T) {
	c := Config{Gates: []wave.Gate{wave.Halt{Dir: "gate"}}, Reviewer: part{"reviewer"}, Approver: part{"approver"}, Prompts: part{"prompts"},
		Observers: []wave.Observer{part{"observer"}}, Redactor: new(Redactor), Prices: new(price.Table), Alerts: cost.AlertFile("alerts"), Sinks: []outbox.Named{{}}, Logger: zap.NewExample()}
	fill(reflect.ValueOf(&c.Settings).Elem())
	store, file, agent := statestore.NewMemory(statestore.MemoryConfig{}), &tracker.File{}, &script.Driver{}
	made := c.scheduler(Place{Repo: "/repo", State: "/state"}, file, store, agent)
	if made.Repo != "/repo" || made.State != "/state" || made.Tracker != file || made.Store != store || made.Driver != agent {
		t.Errorf("what Open made is not in %+v", made)
	}
	got := reflect.ValueOf(made)
	for i := range got.NumField() {
		if name := got.Type().Field(i).Name; !chosenByOpen[name] && got.Field(i).IsZero() {
			t.Errorf("wave.Config.%s is not set", name)
		}
	}
	for _, from := range []reflect.Value{reflect.ValueOf(c), reflect.ValueOf(c.Settings)} {
		for i := range from.NumField() {
			name := from.Type().Field(i).Name
			if chosenByOpen[name] || notScheduler[name] {
				continue
			}
			field := got.FieldByName(name)
			if !field.IsValid() || from.Field(i).IsZero() || !reflect.DeepEqual(from.Field(i).Interface(), field.Interface()) {
				t.Errorf("%s.%s does not reach the scheduler", from.Type(), name)
			}
		}
	}
}

// fill sets every field to a value of its own.
func fill(v reflect.Value) {
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString(name)
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Int, reflect.Int64:
			f.SetInt(int64(i + 1))
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		case reflect.Struct:
			fill(f)
		}
	}
}
