package cost

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// object reads a vendor's usage object. It keeps the first thing that makes no sense, so that a reader asks for all it wants
// and looks once whether any of it was wrong.
type object struct {
	vendor string
	fields map[string]json.RawMessage // nil: there is no object
	err    error
}

// readObject reads the object's fields; none, or null, is an object that says nothing.
func readObject(vendor string, text []byte) *object {
	o := &object{vendor: vendor}
	if len(text) == 0 {
		return o
	}
	if err := json.Unmarshal(text, &o.fields); err != nil {
		o.err = fmt.Errorf("%s usage: %w", vendor, err)
	}
	return o
}

// count is a field's number of tokens, known only where the field is there and not null. A name of more parts is a field of
// an object in the object.
func (o *object) count(name ...string) (n int64, known bool) {
	fields := o.fields
	for i, part := range name {
		raw, there := fields[part]
		if !there || string(raw) == "null" {
			return 0, false
		}
		if i < len(name)-1 {
			fields = nil
			if json.Unmarshal(raw, &fields) != nil {
				o.fail("%s is %.40s, must be an object", part, raw)
				return 0, false
			}
			continue
		}
		var err error
		if n, err = strconv.ParseInt(string(raw), 10, 64); err != nil || n < 0 || n > maxCount {
			o.fail("%s is %.40s, must be a whole number of tokens, at most %d", part, raw, int64(maxCount))
			return 0, false
		}
	}
	return n, true
}

func (o *object) fail(format string, args ...any) {
	if o.err == nil {
		o.err = fmt.Errorf("%s usage: "+format, append([]any{o.vendor}, args...)...)
	}
}

// usage is u, if nothing was wrong. It is metered where the vendor said both of what every call has.
func (o *object) usage(u Usage, input, output bool) (Usage, error) {
	u.Metered = input && output
	if o.err == nil {
		if err := u.Check(); err != nil {
			o.fail("%w", err)
		}
	}
	if o.err != nil {
		return Usage{Model: u.Model}, o.err
	}
	return u, nil
}
