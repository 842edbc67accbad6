package cost

import "encoding/json"

// total has the fields of a Total without its methods.
type total Total

type totalJSON struct {
	total
	Cost *Money `json:"usd"` // in place of the other
}

// MarshalJSON writes null for the cost of calls of which none is priced, never 0.
func (t Total) MarshalJSON() ([]byte, error) {
	out := totalJSON{total: total(t)}
	if t.Priced() {
		out.Cost = &t.Cost
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (t *Total) UnmarshalJSON(data []byte) error {
	var in totalJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*t = Total(in.total)
	if in.Cost != nil {
		t.Cost = *in.Cost
	}
	return nil
}

// Priced says that Cost is known: of no calls at all it is 0, and of calls without a single price it is not known.
func (t Total) Priced() bool { return t.Calls == 0 || t.Unpriced < t.Calls }
