package price

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Skipped is a model of another table that could not be taken over.
type Skipped struct {
	Model string
	Why   string
}

// litellmSource is the source of rows that name none.
const litellmSource = "LiteLLM model_prices_and_context_window.json"

// ReadLiteLLM reads prices in the form of LiteLLM's model_prices_and_context_window.json, which its reader got on the date
// of checked. Only models that are sold by the token of text are taken; the others are skipped, each with its reason, as are
// those whose prices this table cannot say exactly. A price of 0 for both input and output often stands there for one that
// nobody knows, so it is skipped too. Batch and other services have no price. Data that is no such file is an error.
func ReadLiteLLM(data []byte, checked time.Time) (Table, []Skipped, error) {
	var models map[string]json.RawMessage
	if err := json.Unmarshal(data, &models); err != nil {
		return Table{}, nil, fmt.Errorf("read LiteLLM's prices: %w", err)
	}
	delete(models, "sample_spec")
	delete(models, "fallback_generalizations")
	t := Table{models: map[string][]Rate{}}
	var skipped []Skipped
	for _, model := range slices.Sorted(maps.Keys(models)) {
		r := Rate{Model: model, Checked: checked.UTC().Format(time.DateOnly), Source: litellmSource}
		if why := readLiteLLM(models[model], &r); why != "" {
			skipped = append(skipped, Skipped{model, why})
			continue
		}
		t.models[model] = []Rate{r}
	}
	return t, skipped, nil
}

// readLiteLLM reads one model; why not is "" where it could.
func readLiteLLM(data []byte, r *Rate) (why string) {
	var fields map[string]any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber() // a price is decimal text, and a float would round it
	if decoder.Decode(&fields) != nil || r.Model == "" {
		return "it is no object with a name"
	}
	if mode, _ := fields["mode"].(string); !slices.Contains([]string{"chat", "completion", "responses"}, mode) {
		return fmt.Sprintf("its mode is %.40q", mode)
	}
	if source, _ := fields["source"].(string); source != "" {
		r.Source = source
	}
	tiers := map[int64]*Prices{0: &r.Prices}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		above, class := tierOf(name)
		if class == "" {
			continue
		}
		p, err := perToken(fields[name])
		if err != nil {
			return fmt.Sprintf("%s: %v", name, err)
		}
		if tiers[above] == nil {
			tiers[above] = &Prices{}
		}
		*map[string]*Price{"input": &tiers[above].Input, "output": &tiers[above].Output, "read": &tiers[above].CacheRead,
			"write": &tiers[above].CacheWrite5m, "write1h": &tiers[above].CacheWrite1h}[class] = p
	}
	free := Price{known: true}
	switch {
	case !r.Input.known || !r.Output.known:
		return "it has no price of input or of output tokens"
	case fields["tiered_pricing"] != nil:
		return "its prices are tiered in a form of its own"
	case r.Input == free && r.Output == free:
		return "its prices are 0, which is often said of unknown ones"
	}
	if p, err := perToken(fields["output_cost_per_reasoning_token"]); err != nil || p.known && p != r.Output {
		return "its reasoning has a price of its own"
	}
	delete(tiers, 0)
	for _, above := range slices.Sorted(maps.Keys(tiers)) { // what a tier does not say is not known: it is dearer than the base
		r.Tiers = append(r.Tiers, Tier{Above: above, Prices: *tiers[above]})
	}
	return ""
}

var litellmField = regexp.MustCompile(`^(input_cost_per_token|output_cost_per_token|cache_read_input_token_cost|` +
	`cache_creation_input_token_cost)(_above_1hr)?(?:_above_([1-9]\d{0,5})k_tokens)?$`)

// tierOf says what the price of that name is of; class is "" where it is of no text tokens in the standard service.
func tierOf(name string) (above int64, class string) {
	m := litellmField.FindStringSubmatch(name)
	if m == nil {
		return 0, ""
	}
	class = map[string]string{"input_cost_per_token": "input", "output_cost_per_token": "output", "cache_read_input_token_cost": "read",
		"cache_creation_input_token_cost": "write"}[m[1]]
	if m[2] != "" {
		if class != "write" {
			return 0, ""
		}
		class = "write1h"
	}
	above, _ = strconv.ParseInt(m[3], 10, 64)
	return above * 1000, class
}

// perToken is the price of a decimal number of dollars for one token, such as 2.5e-06; null is not known.
func perToken(v any) (Price, error) {
	if v == nil {
		return Price{}, nil
	}
	number, ok := v.(json.Number)
	if !ok {
		return Price{}, fmt.Errorf("is %.40q, must be a number", fmt.Sprint(v))
	}
	if strings.HasPrefix(number.String(), "-") {
		return Price{}, fmt.Errorf("is %.40q, must not be negative", number)
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(number.String()), "e")
	whole, part, _ := strings.Cut(mantissa, ".")
	if exponent == "" {
		exponent = "0"
	}
	shift, err := strconv.Atoi(exponent)
	if err != nil || shift < -60 || shift > 60 || len(mantissa) > 60 {
		return Price{}, fmt.Errorf("is %.40q, which is no price", number)
	}
	// Dollars for a million tokens: the point goes shift+6 digits to the right.
	digits, point := strings.Repeat("0", 66)+whole+part+strings.Repeat("0", 66), 66+len(whole)+shift+6
	whole, part = "0"+strings.TrimLeft(digits[:point], "0"), strings.TrimRight(digits[point:], "0")
	return ParsePrice(strings.TrimSuffix(whole+"."+part, "."))
}
