package policy

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
)

// Purpose is what items are chosen for. Each has a choice of its own, so that what is spot checked says nothing about what is reviewed.
type Purpose string

// The purposes.
const (
	SpotCheck Purpose = "spot_check"
	Review    Purpose = "review"
)

// Count is how many of n items a share is: rounded up, so at least one where there is a share and an item.
func Count(share float64, n int) int {
	if share <= 0 || n <= 0 {
		return 0
	}
	const tolerance = 1e-9 // 0.1 of 30 is 3, also in binary
	return max(1, min(n, int(math.Ceil(share*float64(n)-tolerance))))
}

// Choose picks n of the slugs of a wave's items, or all of fewer. Who does not have the key cannot tell which it will be; who has it
// picks the same ones every time, whatever their order, and of those that are left without some picks the next.
func Choose(key []byte, wave string, purpose Purpose, n int, slugs []string) []string {
	type candidate struct {
		slug string
		draw []byte
	}
	candidates := make([]candidate, len(slugs))
	for i, slug := range slugs {
		mac := hmac.New(sha256.New, key)
		for _, part := range []string{string(purpose), wave, slug} {
			fmt.Fprintf(mac, "%d:%s,", len(part), part)
		}
		candidates[i] = candidate{slug, mac.Sum(nil)}
	}
	slices.SortFunc(candidates, func(a, b candidate) int { return bytes.Compare(a.draw, b.draw) })
	chosen := make([]string, max(0, min(n, len(slugs))))
	for i := range chosen {
		chosen[i] = candidates[i].slug
	}
	return chosen
}
