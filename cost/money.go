package cost

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Money is an amount in nano-dollars (US$ 0.000000001). Sums of it are exact.
type Money int64

// Dollar is one US dollar.
const Dollar Money = 1_000_000_000

// ParseMoney reads a decimal number of dollars, such as 5, 0.25 or 0.000000001. More than nine decimals, a sign, an exponent, and
// what is more than Money can hold are errors.
func ParseMoney(text string) (Money, error) {
	whole, part, point := strings.Cut(text, ".")
	digits := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	if !digits(whole) || point && (!digits(part) || len(part) > 9) {
		return 0, fmt.Errorf("%q is not an amount of dollars, such as 5.00 or 0.25, with at most nine decimals", text)
	}
	nano, err := strconv.ParseInt(whole+part+strings.Repeat("0", 9-len(part)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q dollars are more than can be counted, which is %s", text, Money(math.MaxInt64))
	}
	return Money(nano), nil
}

// String is the exact amount in dollars with two decimals or as many as it needs: 5.00, 0.0133.
func (m Money) String() string {
	sign, nano := "", uint64(m)
	if m < 0 {
		sign, nano = "-", -nano
	}
	part := strings.TrimRight(fmt.Sprintf("%09d", nano%1_000_000_000), "0")
	return fmt.Sprintf("%s%d.%s", sign, nano/1_000_000_000, part+strings.Repeat("0", max(0, 2-len(part))))
}

// MarshalJSON writes String: a number would be rounded by most readers.
func (m Money) MarshalJSON() ([]byte, error) { return json.Marshal(m.String()) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (m *Money) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("an amount of money is a decimal in a string, such as \"0.25\", and not %.40s", data)
	}
	plain, negative := strings.CutPrefix(text, "-")
	v, err := ParseMoney(plain)
	if err != nil {
		return err
	}
	*m = v
	if negative {
		*m = -v
	}
	return nil
}

// Amount is tokens and money together: what a limit allows, a reservation holds, or a row is charged for.
type Amount struct {
	Tokens int64 `json:"tokens"`
	Money  Money `json:"usd"`
}

// Add sums two amounts. What is more than can be counted stays at the most, so that no sum ever looks small.
func (a Amount) Add(b Amount) Amount {
	return Amount{Tokens: addUp(a.Tokens, b.Tokens), Money: Money(addUp(int64(a.Money), int64(b.Money)))}
}

// addUp is a+b, and the greatest number where that is more than can be counted.
func addUp(a, b int64) int64 {
	sum := a + b
	if a > 0 && b > 0 && sum < 0 {
		return math.MaxInt64
	}
	return sum
}
