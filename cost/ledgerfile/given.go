package ledgerfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"aesop/cost"
)

// ReadGiven is ReadJSONL for lines that people and programs write by hand: complete fills in what may be missing, such as id and at,
// before a line is judged. Keys that no call has are errors, and so is a metered usage without input or output: what is not said is not
// known, and not 0.
func ReadGiven(r io.Reader, complete func(*cost.Call) error, add func(cost.Call) error) (Report, error) {
	var report Report
	var failed error
	err := lines(r, func(l line) bool {
		if len(l.text) == 0 && l.err == nil {
			return true
		}
		call, err := given(l)
		if err == nil {
			err = complete(&call)
		}
		if err == nil {
			err = call.Check()
		}
		failed = report.take(l.number, call, err, add)
		return failed == nil
	})
	return report, errors.Join(failed, err)
}

func given(l line) (cost.Call, error) {
	if l.err != nil {
		return cost.Call{}, l.err
	}
	type plain cost.Call // without the usage's own reader, which knows no wrong keys
	var in struct {
		SchemaVersion int `json:"schemaVersion"`
		Record        int `json:"record"`
		plain
		At    string `json:"at"`
		Usage struct {
			Model        string `json:"model"`
			Input        *int64 `json:"input"`
			CacheRead    int64  `json:"cacheRead"`
			CacheWrite5m int64  `json:"cacheWrite5m"`
			CacheWrite1h int64  `json:"cacheWrite1h"`
			Output       *int64 `json:"output"`
			Reasoning    int64  `json:"reasoning"`
			Metered      bool   `json:"metered"`
		} `json:"usage"`
	}
	if err := strictly(l.text, &in); err != nil {
		return cost.Call{}, inWords(err)
	}
	if in.SchemaVersion > schemaVersion {
		return cost.Call{}, fmt.Errorf("schemaVersion is %d and this program knows %d: use a newer one", in.SchemaVersion, schemaVersion)
	}
	c, u := cost.Call(in.plain), in.Usage
	if u.Metered && (u.Input == nil || u.Output == nil) {
		return c, errors.New("usage.input or usage.output is missing: give both, or metered false where they are not known")
	}
	c.Usage = cost.Usage{Model: u.Model, Input: orZero(u.Input), CacheRead: u.CacheRead, CacheWrite5m: u.CacheWrite5m, CacheWrite1h: u.CacheWrite1h,
		Output: orZero(u.Output), Reasoning: u.Reasoning, Metered: u.Metered}
	if in.At == "" {
		return c, nil
	}
	var err error
	c.At, err = ParseTime(in.At)
	return c, err
}

// strictly decodes one JSON value in which every key is known.
func strictly(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("there is more than one value")
	}
	return nil
}

func orZero(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// ContentID names a call that has no id by what it says, but for its price: saying the same again is the same call, also when the prices
// have changed. Two calls that differ in nothing, not even in their time, need ids of their own.
func ContentID(c cost.Call) string {
	c.ID, c.Cost, c.Prices, c.Estimate = "", nil, "", nil
	c.At = c.At.UTC()
	text, err := json.Marshal(c)
	if err != nil {
		text = fmt.Appendf(nil, "%v", c) // of a call that Check refuses
	}
	sum := sha256.Sum256(text)
	return "record/" + hex.EncodeToString(sum[:16])
}
