package tracker

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"
)

var lapse = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// change is what a request does to an item, for the tests of edits.
func claimIt(i Item) Item {
	return i.claimed(Holder{Wave: "w", Owner: "o"}, Claim{Attempt: "a1", Epoch: i.Epoch + 1, LeaseUntil: lapse})
}

func releaseIt(i Item) Item {
	i.Status, i.StatusReason, i.Claim = Todo, "", nil
	return i
}

func completeIt(i Item) Item {
	i.Status, i.StatusReason, i.Claim, i.Shipped = Done, "", nil, &Shipped{Wave: "w", Branch: "b", Commit: "c"}
	return i
}

func failIt(i Item) Item {
	i.Status, i.StatusReason, i.Claim = Failed, "a \"reason\" <&>", nil
	i.Attempts++
	return i
}

func TestEditKeepsTheLayout(t *testing.T) {
	const claim = `"claim": {"wave": "w", "owner": "o", "attempt": "a1", "leaseUntil": "2026-01-02T03:04:05Z"}`
	compactClaim := strings.NewReplacer(`": `, `":`, `, `, `,`).Replace(claim)
	tests := []struct {
		name      string
		before    string
		change    func(Item) Item
		after     string
		roundTrip bool // releasing afterwards leaves but the epoch
	}{
		{"lines", "{\n  \"id\": \"a\",\n  \"slug\": \"a\",\n  \"status\": \"todo\"\n}", claimIt,
			"{\n  \"id\": \"a\",\n  \"slug\": \"a\",\n  \"status\": \"in_progress\",\n  \"epoch\": 1,\n  " + claim + "\n}", true},
		{"no status", "{\n\t\"id\": \"a\",\n\t\"slug\": \"a\"\n}", claimIt,
			"{\n\t\"id\": \"a\",\n\t\"slug\": \"a\",\n\t\"status\": \"in_progress\",\n\t\"epoch\": 1,\n\t" + claim + "\n}", false},
		{"trailing comma", "{\n  \"id\": \"a\",\n  \"slug\": \"a\",\n  \"status\": \"todo\",\n}", claimIt,
			"{\n  \"id\": \"a\",\n  \"slug\": \"a\",\n  \"status\": \"in_progress\",\n  \"epoch\": 1,\n  " + claim + ",\n}", true},
		{"CRLF", "{\r\n  \"id\": \"a\",\r\n  \"slug\": \"a\",\r\n  \"status\": \"todo\"\r\n}", claimIt,
			"{\r\n  \"id\": \"a\",\r\n  \"slug\": \"a\",\r\n  \"status\": \"in_progress\",\r\n  \"epoch\": 1,\r\n  " + claim + "\r\n}", true},
		{"compact", `{"id":"a","slug":"a","status":"todo"}`, claimIt,
			`{"id":"a","slug":"a","status":"in_progress","epoch":1,` + compactClaim + `}`, true},
		{"one line", `{ "id": "a", "slug": "a", "status": "todo" }`, claimIt,
			`{ "id": "a", "slug": "a", "status": "in_progress", "epoch": 1, ` + claim + ` }`, true},
		{"one line, trailing comma", `{"id": "a", "slug": "a", "status": "todo", }`, claimIt,
			`{"id": "a", "slug": "a", "status": "in_progress", "epoch": 1, ` + claim + `, }`, true},
		{"comment behind the last", "{\n  \"id\": \"a\",\n  \"slug\": \"a\", \"status\": \"todo\",\n  \"x\": 1 // the last, one\n  // end\n}", claimIt,
			"{\n  \"id\": \"a\",\n  \"slug\": \"a\", \"status\": \"in_progress\",\n  \"x\": 1, // the last, one\n  \"epoch\": 1,\n  " + claim + "\n  // end\n}", true},
		{"comment before the comma", "{\n  \"id\": \"a\",\n  \"slug\": \"a\",\n  \"status\": \"todo\" /* , */ , // end\n}", claimIt,
			"{\n  \"id\": \"a\",\n  \"slug\": \"a\",\n  \"status\": \"in_progress\" /* , */ , // end\n  \"epoch\": 1,\n  " + claim + ",\n}", false},
		{"commas in front", "{ \"id\": \"a\"\n, \"slug\": \"a\"\n, \"status\": \"todo\"\n}", claimIt,
			"{ \"id\": \"a\"\n, \"slug\": \"a\"\n, \"status\": \"in_progress\", \"epoch\": 1, " + claim + "\n}", true},
		{"null claim", `{"id": "a", "slug": "a", "status": null, "claim": null, "epoch": 4}`, claimIt,
			`{"id": "a", "slug": "a", "status": "in_progress", ` + claim + `, "epoch": 5}`, false},
		{"a lapsed claim with comments is edited", "{\"id\": \"a\", \"slug\": \"a\", \"status\": \"in_progress\", \"claim\": {\n  \"attempt\": \"old\", // by hand\n  \"seat\": 1,\n  \"leaseUntil\": \"2025-01-01T00:00:00Z\"\n}}", claimIt,
			"{\"id\": \"a\", \"slug\": \"a\", \"status\": \"in_progress\", \"claim\": {\n  \"attempt\": \"a1\", // by hand\n  \"seat\": 1,\n  \"leaseUntil\": \"2026-01-02T03:04:05Z\",\n  \"wave\": \"w\",\n  \"owner\": \"o\"\n}, \"epoch\": 1}", false},
		{"complete", "{\n  \"id\": \"a\",\n  \"slug\": \"a\",\n  \"status\": \"in_progress\",\n  \"statusReason\": \"x\", // why\n  " + claim + ",\n  \"z\": [1, 2,]\n}", completeIt,
			"{\n  \"id\": \"a\",\n  \"slug\": \"a\",\n  \"status\": \"done\",\n   // why\n  \"z\": [1, 2,],\n  \"shipped\": {\"wave\": \"w\", \"branch\": \"b\", \"commit\": \"c\"}\n}", false},
		{"fail, claim first", "{" + claim + ", \"id\": \"a\", \"slug\": \"a\", \"status\": \"in_progress\", \"attempts\": 2}", failIt,
			`{ "id": "a", "slug": "a", "status": "failed", "attempts": 3, "statusReason": "a \"reason\" <&>"}`, false},
		{"a comment between claim and comma stays", "{\n  \"id\": \"a\",\n  \"slug\": \"a\",\n  " + claim + " /* mine */,\n  \"status\": \"in_progress\"\n}", releaseIt,
			"{\n  \"id\": \"a\",\n  \"slug\": \"a\",\n   /* mine */\n  \"status\": \"todo\"\n}", false},
		{"the last goes, the comma before it too", "{\n  \"id\": \"a\",\n  \"slug\": \"a\",\n  \"status\": \"in_progress\" /* s */, // t\n  " + claim + " // c\n}", releaseIt,
			"{\n  \"id\": \"a\",\n  \"slug\": \"a\",\n  \"status\": \"todo\" /* s */ // t\n   // c\n}", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := parseOne(t, tt.before)
			after, err := before.with(map[int]Item{0: tt.change(before.items[0])})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff("["+tt.after+"]", string(after.data)); diff != "" {
				t.Fatal(diff)
			}
			if !tt.roundTrip {
				return
			}
			back := releaseIt(after.items[0])
			back.Epoch = 0
			again, err := after.with(map[int]Item{0: back})
			if err != nil {
				t.Fatal(err)
			}
			text := removeEpoch(t, again.data)
			if diff := cmp.Diff("["+tt.before+"]", text); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func removeEpoch(t *testing.T, list []byte) string {
	t.Helper()
	text, err := removeMember(list[1:len(list)-1], "epoch")
	if err != nil {
		t.Fatal(err)
	}
	return "[" + string(text) + "]"
}

func parseOne(t testing.TB, item string) *snapshot {
	t.Helper()
	s, err := parseBacklog("f", []byte("["+item+"]"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEditLeavesTheNeighboursAlone(t *testing.T) {
	const text = "\ufeff{ // top\r\n \"items\": [\r\n  {\"id\": \"a\", \"slug\": \"a\"}, /* b */ {\"id\": \"b\", \"slug\": \"b\"},\r\n  {\r\n    \"id\": \"c\",\r\n    \"slug\": \"c\"\r\n  },\r\n  {\"id\": \"d\", \"slug\": \"d\"} // d\r\n ], \"more\": {\"items\": [\"]\"]}, }\r\n// end"
	s, err := parseBacklog("f", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	next, err := s.with(map[int]Item{0: claimIt(s.items[0]), 2: claimIt(s.items[2])})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"\ufeff{ // top\r\n \"items\": [\r\n  {\"id\": \"a\"", `/* b */ {"id": "b", "slug": "b"},`, "\r\n  },\r\n  {\"id\": \"d\", \"slug\": \"d\"} // d\r\n ], \"more\": {\"items\": [\"]\"]}, }\r\n// end"} {
		if !strings.Contains(string(next.data), part) {
			t.Errorf("%q is gone from %q", part, next.data)
		}
	}
	sameAsParsed(t, next)
	if next.items[3].Line != s.items[3].Line+3 {
		t.Errorf("line of d is %d, was %d before three lines were added", next.items[3].Line, s.items[3].Line)
	}
}

// sameAsParsed compares a snapshot made by an edit with one read from its bytes.
func sameAsParsed(t testing.TB, s *snapshot) {
	t.Helper()
	parsed, err := parseBacklog("f", s.data)
	if err != nil {
		t.Fatalf("%v in %q", err, s.data)
	}
	if diff := cmp.Diff(parsed.items, s.items); diff != "" {
		t.Errorf("items, parsed (-) and kept (+): %s", diff)
	}
	if diff := cmp.Diff(parsed.spans, s.spans); diff != "" || parsed.list != s.list {
		t.Errorf("spans: %s, list %v and %v", diff, parsed.list, s.list)
	}
}

// FuzzEdit edits the first item of any backlog that can be read. The result must be readable, mean what was meant, and have
// every comment and every other member as before.
func FuzzEdit(f *testing.F) {
	for _, seed := range []string{
		`[{"id":"a","slug":"b"}]`,
		"[{\"id\":\"a\",\"slug\":\"b\" // c\n}]",
		"[ /*0*/ { /*1*/ \"id\" /*2*/ : /*3*/ \"a\" /*4*/ , /*5*/ \"slug\" : \"b\" /*6*/ , /*7*/ } /*8*/ , ] // 9",
		"[{\"id\":\"a\",\"slug\":\"b\",\r\n\t\"claim\":{\"attempt\":\"x\",\"leaseUntil\":\"2025-01-01T00:00:00Z\"/*,*/,},\r\n\"status\":\"in_progress\"}, 	{\"id\":\"c\",\"slug\":\"\"}]",
		"{\"a\":[\"]\"],\"items\":[{\"statusReason\":\"}\",\n\n\"slug\":\"b\",\"id\":\"a\", \"attempts\":3,\n//\n\"claim\":null\n,\"shipped\":{\"commit\":\"c\"}}]}",
		"[{\"id\":\"a\",\"slug\":\"b\",\"claim\":{\"attempt\":\"x\",\"leaseUntil\":\"2025-01-01T00:00:00Z\"}}]",
		"[{\"claim\":{\"attempt\":\"x\",\"leaseUntil\":\"2025-01-01\"}//x\n,\"id\":\"a\",\"slug\":\"b\"\n/*\n*/,}]",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseBacklog("f", data)
		if err != nil || len(s.items) == 0 {
			return
		}
		for _, change := range []func(Item) Item{claimIt, claimIt, failIt, claimIt, completeIt, claimIt, releaseIt} {
			next, err := s.with(map[int]Item{0: change(s.items[0])})
			if err != nil {
				t.Fatalf("%v in %q", err, s.data)
			}
			sameAsParsed(t, next)
			if diff := cmp.Diff(comments(t, s), comments(t, next)); diff != "" {
				t.Fatalf("comments of %q and %q: %s", s.data, next.data, diff)
			}
			s = next
		}
	})
}

// comments are those of the document, without the ones inside of claim and shipped, which may go with them.
func comments(t *testing.T, s *snapshot) []string {
	t.Helper()
	text := append([]byte(strings.TrimPrefix(string(s.data), "\ufeff")), '\n')
	root, err := hujson.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	collect := func(extra hujson.Extra) {
		if c := strings.TrimSpace(string(extra)); c != "" {
			found = append(found, strings.Join(strings.Fields(c), " "))
		}
	}
	var walk func(v *hujson.Value)
	walk = func(v *hujson.Value) {
		collect(v.BeforeExtra)
		switch x := v.Value.(type) {
		case *hujson.Object:
			for i := range x.Members {
				collect(x.Members[i].Name.BeforeExtra)
				collect(x.Members[i].Name.AfterExtra)
				name := x.Members[i].Name.Value.(hujson.Literal).String()
				if value := &x.Members[i].Value; name == "claim" || name == "shipped" {
					collect(value.BeforeExtra)
					collect(value.AfterExtra)
				} else {
					walk(value)
				}
			}
			collect(x.AfterExtra)
		case *hujson.Array:
			for i := range x.Elements {
				walk(&x.Elements[i])
			}
			collect(x.AfterExtra)
		}
		collect(v.AfterExtra)
	}
	walk(&root)
	return found
}

// TestRewriteSaysWhatItCannotEdit: an edit that does not happen is an error, also where it is the last one.
func TestRewriteSaysWhatItCannotEdit(t *testing.T) {
	to := Item{Claim: &ClaimState{Attempt: "x"}}
	if text, err := rewrite([]byte(`{"id": "a", "claim": {"x": 1, "x": 2}}`), Item{}, to); err == nil {
		t.Errorf("a claim was not written and nobody said so: %s", text)
	}
}
