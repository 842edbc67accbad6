package wave

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"aesop/redact"
	"aesop/statestore"
	"aesop/wave/journal"
)

// Desk is where people decide about verified commits, from any process that can open the store. What waits is in the waves' events;
// a decision is a record of its own, which the wave carries out when it sees it, at once or when it is resumed. A decision that was
// made already is made again without effect.
type Desk struct {
	Store    statestore.Store
	By       string           // who decides
	Redactor *redact.Redactor // of what people write as reasons; nil: the default one
}

// Pending is a verified commit that waits for a person's word.
type Pending struct {
	Wave      string
	Item      string // id
	Slug      string
	Title     string
	Commit    string
	Since     time.Time
	Decided   string              // what was decided, and not carried out yet: approve, reject or correct; "" before
	Corrected []journal.Corrected // what people changed so far, and what came of it
}

// Seen is what a person decides about.
type Seen struct {
	Wave   string // "": the one in which the item waits, else the newest that has it
	Item   string // id or slug
	Commit string // that the person looked at, or its beginning; "": whichever waits
}

// Decided is a decision that is written down.
type Decided struct {
	Wave       string
	Item       string // id
	Commit     string
	Correction string // its id; "" where it is none
}

// RefusedError says that what was asked is refused as things stand.
type RefusedError struct {
	Code    string // ambiguous, not_waiting, older_commit, decided, secret_found, unfinished, nothing_kept, stale_manifest
	Message string
	Hint    string // what to do next
}

func (e *RefusedError) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return fmt.Sprintf("%s (%s)", e.Message, e.Hint)
}

// Pending is all that waits, by wave, oldest first, in the order of the backlog.
func (d Desk) Pending(ctx context.Context) ([]Pending, error) {
	var all []Pending
	err := d.Store.View(ctx, func(r statestore.Reader) error {
		all = nil
		open, err := journal.Open(r, "")
		if err != nil {
			return err
		}
		for _, id := range open {
			fold, err := journal.Fold(r, id)
			if err != nil {
				return err
			}
			for _, i := range fold.Select((*journal.ItemState).Waits) {
				given, err := readDecision(r, id, i)
				if err != nil {
					return err
				}
				all = append(all, Pending{Wave: id, Item: i.ID, Slug: i.Slug, Title: i.Title, Commit: i.Verified, Since: i.AskedAt, Decided: given.Verdict, Corrected: i.Corrected})
			}
		}
		return nil
	})
	return all, err
}

// Approve lets commits ship, all or none. *RefusedError where an item does not wait, or where another commit than the one seen does.
func (d Desk) Approve(ctx context.Context, seen ...Seen) ([]Decided, error) {
	return d.decide(ctx, seen, decision{Verdict: verdictApprove})
}

// Reject ends an item. Errors are as of Approve.
func (d Desk) Reject(ctx context.Context, s Seen, reason string) (Decided, error) {
	if strings.TrimSpace(reason) == "" {
		return Decided{}, &SetupError{Code: "usage", Message: "a rejection needs a reason", Hint: "say why, for who reads the report"}
	}
	return d.one(ctx, s, decision{Verdict: verdictReject, Reason: reason})
}

// Correct changes a commit. What came of it, Outcome tells. Errors are as of Approve; a *SetupError where nobody could make it. The files
// are kept in the store as they are, so one with a credential is refused.
func (d Desk) Correct(ctx context.Context, s Seen, c Correction, reason string) (Decided, error) {
	if err := c.Check(); err != nil {
		return Decided{}, err
	}
	redactor, err := theRedactor(d.Redactor)
	if err != nil {
		return Decided{}, err
	}
	if err := c.withoutSecrets(redactor); err != nil {
		return Decided{}, err
	}
	return d.one(ctx, s, decision{Verdict: verdictCorrect, Reason: reason, Correction: &c})
}

// Outcome waits until a correction was tried, and says what came of it. *RefusedError where the item ended without.
func (d Desk) Outcome(ctx context.Context, of Decided) (journal.Corrected, error) {
	for {
		var item *journal.ItemState
		seq, err := look(ctx, d.Store, func(r statestore.Reader) error {
			fold, err := journal.Fold(r, of.Wave)
			if err == nil {
				item = fold.Items[of.Item]
			}
			return err
		})
		if err != nil {
			return journal.Corrected{}, err
		}
		if item != nil {
			for _, c := range slices.Backward(item.Corrected) {
				if c.Attempt == of.Correction {
					return c, nil
				}
			}
		}
		if item == nil || !item.Open() {
			return journal.Corrected{}, &RefusedError{Code: "not_waiting", Message: fmt.Sprintf("%s ended before it was corrected", of.Item)}
		}
		if err := d.Store.Changed(ctx, seq); err != nil {
			return journal.Corrected{}, err
		}
	}
}

// The words of decisions.
const (
	verdictApprove = "approve"
	verdictReject  = "reject"
	verdictCorrect = "correct"
)

// decision is the record of what a person decided about one question.
type decision struct {
	Item        string      `json:"item"`
	Commit      string      `json:"commit"`
	Corrections int         `json:"corrections"` // how many there were when it was made
	Verdict     string      `json:"verdict"`
	By          string      `json:"by"`
	Reason      string      `json:"reason"`
	At          time.Time   `json:"at"`
	Correction  *Correction `json:"correction,omitempty"`
}

// answers says whether the decision is about the newest question.
func (d decision) answers(asked *journal.Asked) bool {
	return d.Verdict != "" && d.Commit == asked.Commit && d.Corrections == asked.Corrections
}

// id is the correction's, "" where the decision is none.
func (d decision) id(wave string) string {
	if d.Correction == nil {
		return ""
	}
	return d.Correction.ID(wave, d.Item, d.Commit)
}

const deskPrefix = "desk/"

func decisionKey(wave, item string) statestore.Key {
	return statestore.Key(deskPrefix + wave + "/" + itemName(item))
}

// readDecision is the decision about the item's newest question, or a zero one.
func readDecision(r statestore.Reader, wave string, i *journal.ItemState) (decision, error) {
	var d decision
	record, err := r.Get(decisionKey(wave, i.ID))
	if notFound(err) {
		return decision{}, nil
	}
	if err == nil {
		err = json.Unmarshal(record.Value, &d)
	}
	if err != nil || i.Asked == nil || !d.answers(i.Asked) {
		return decision{}, err
	}
	return d, nil
}

func (d Desk) one(ctx context.Context, s Seen, want decision) (Decided, error) {
	done, err := d.decide(ctx, []Seen{s}, want)
	if err != nil {
		return Decided{}, err
	}
	return done[0], nil
}

// decide writes a decision about each of some items down, unless it is made already; none where one cannot be made.
func (d Desk) decide(ctx context.Context, seen []Seen, want decision) ([]Decided, error) {
	want.By = d.By
	redactor, err := theRedactor(d.Redactor)
	if err != nil {
		return nil, err
	}
	want.Reason = redactor.String(want.Reason)
	var all []Decided
	err = d.Store.Update(ctx, func(tx statestore.Tx) error {
		all = nil
		for _, s := range seen {
			done, err := decideOne(tx, s, want)
			if err != nil {
				return err
			}
			all = append(all, done)
		}
		return nil
	})
	return all, err
}

func decideOne(tx statestore.Tx, s Seen, want decision) (Decided, error) {
	fold, i, err := findItem(tx, s.Wave, s.Item, (*journal.ItemState).Waits)
	if err != nil {
		return Decided{}, err
	}
	if made, ok := madeAlready(fold.ID, i, s, want); ok {
		return made, nil
	}
	if err := s.waits(fold, i); err != nil {
		return Decided{}, err
	}
	want.Item, want.Commit, want.Corrections, want.At = i.ID, i.Asked.Commit, i.Asked.Corrections, tx.Now()
	done := Decided{Wave: fold.ID, Item: i.ID, Commit: want.Commit, Correction: want.id(fold.ID)}
	given, err := readDecision(tx, fold.ID, i)
	switch {
	case err != nil:
		return Decided{}, err
	case given.Verdict == "":
		return done, want.put(tx, fold.ID)
	case given.Verdict != want.Verdict || given.id(fold.ID) != done.Correction:
		message := fmt.Sprintf("%s is decided: %s", i.ID, given.Verdict)
		if given.By != "" {
			message += ", by " + given.By
		}
		return Decided{}, &RefusedError{Code: "decided", Message: message, Hint: "the wave carries that out first; resume it if it does not run"}
	}
	return done, nil
}

// put writes the decision, and an event without the files' content that wakes who waits.
func (d decision) put(tx statestore.Tx, wave string) error {
	record, err := json.Marshal(d)
	if err != nil {
		return err
	}
	if _, err := tx.Put(decisionKey(wave, d.Item), record, statestore.Any); err != nil {
		return err
	}
	d.Correction = nil
	event, err := json.Marshal(d)
	if err != nil {
		return err
	}
	_, err = tx.Append(deskPrefix+wave, statestore.AnyVersion, statestore.Entry{Type: "decided", Data: event})
	return err
}

// madeAlready says whether the wave has carried out just this decision.
func madeAlready(wave string, i *journal.ItemState, s Seen, want decision) (Decided, bool) {
	if j := i.Judged[journal.SeatApprove]; j.Seat != "" {
		same := want.Verdict == verdictApprove && j.OK || want.Verdict == verdictReject && !j.OK
		return Decided{Wave: wave, Item: i.ID, Commit: i.Verified}, same && strings.HasPrefix(i.Verified, s.Commit)
	}
	if n := len(i.Corrected); n > 0 && want.Correction != nil && i.Corrected[n-1].Passed() {
		last := i.Corrected[n-1]
		id := want.Correction.ID(wave, i.ID, last.Of)
		return Decided{Wave: wave, Item: i.ID, Commit: last.Of, Correction: id}, id == last.Attempt
	}
	return Decided{}, false
}

// waits refuses what does not wait, and a decision about another commit than the one that does.
func (s Seen) waits(fold *journal.Wave, i *journal.ItemState) error {
	if !i.Waits() {
		return &RefusedError{Code: "not_waiting", Message: fmt.Sprintf("%s in wave %s waits for no decision: %s", i.ID, fold.ID, standing(fold, i))}
	}
	if !strings.HasPrefix(i.Verified, s.Commit) {
		return &RefusedError{Code: "older_commit", Message: fmt.Sprintf("%s waits with commit %s, not with %s", i.ID, i.Verified, s.Commit),
			Hint: "look at that one first"}
	}
	return nil
}

// standing says, for who cannot decide about an item, how it stands.
func standing(fold *journal.Wave, i *journal.ItemState) string {
	j := i.Judged[journal.SeatApprove]
	switch {
	case i.Commit != "":
		return "it has shipped"
	case i.End != nil && j.Seat == "":
		return strings.TrimSuffix(fmt.Sprintf("it ended as %s: %s", i.End.State, i.End.Reason), ": ")
	case j.Seat != "" && j.OK:
		return "it was approved"
	case j.Seat != "":
		return strings.TrimSuffix("it was rejected: "+j.Reason, ": ")
	case !fold.Approve:
		return "its wave asks for no approval"
	case i.Verified == "":
		return "it is not verified yet"
	}
	return "it is verified, and was not asked about yet"
}

// found is an item that a name may mean.
type found struct {
	wave      *journal.Wave
	item      *journal.ItemState
	preferred bool
}

// findItem finds an item by id or, where that is nothing's id, by slug: in the named wave, else in the newest for which prefer is true,
// else in the newest that has it. *RefusedError where the slug means several.
func findItem(r statestore.Reader, wave, name string, prefer func(*journal.ItemState) bool) (*journal.Wave, *journal.ItemState, error) {
	open, err := journal.Open(r, "")
	if err != nil {
		return nil, nil, err
	}
	ids, err := journal.List(r)
	if err != nil {
		return nil, nil, err
	}
	if wave != "" {
		if !slices.Contains(ids, wave) {
			return nil, nil, &UnknownWaveError{Wave: wave}
		}
		open, ids = nil, []string{wave}
	}
	var byID, bySlug []found // newest first
	for _, id := range slices.Backward(ids) {
		fold, err := journal.Fold(r, id)
		if err != nil {
			return nil, nil, err
		}
		candidate := func(i *journal.ItemState) found { return found{fold, i, slices.Contains(open, id) && prefer(i)} }
		if i := fold.Items[name]; i != nil {
			byID = append(byID, candidate(i))
		}
		for _, i := range fold.Select(func(i *journal.ItemState) bool { return i.Slug == name && i.ID != name }) {
			bySlug = append(bySlug, candidate(i))
		}
		if len(byID) > 0 && byID[len(byID)-1].preferred {
			break
		}
	}
	if len(byID) == 0 {
		byID = bySlug
	}
	return choose(name, byID)
}

// choose is the candidate that a name means: the newest that is preferred, else the newest.
func choose(name string, all []found) (*journal.Wave, *journal.ItemState, error) {
	if len(all) == 0 {
		return nil, nil, &SetupError{Code: "unknown_item", Message: fmt.Sprintf("no wave has taken an item %q", name), Hint: "name an item by its id or slug; a plan says which items can be taken, and why others not"}
	}
	chosen := slices.DeleteFunc(slices.Clone(all), func(f found) bool { return !f.preferred })
	if len(chosen) == 0 {
		chosen = slices.DeleteFunc(all, func(f found) bool { return f.wave != all[0].wave })
	}
	for _, other := range chosen[1:] {
		if other.item.ID != chosen[0].item.ID {
			return nil, nil, &RefusedError{Code: "ambiguous", Message: fmt.Sprintf("%q is the slug of several items: %s and %s", name, chosen[0].item.ID, other.item.ID),
				Hint: "name the item by its id"}
		}
	}
	return chosen[0].wave, chosen[0].item, nil
}
