package redact

import (
	"encoding/binary"
	"strings"
)

// grams is a set of three bytes in a row, of which only the lower five bits count: so letters of both cases are one. It is what makes
// clean text cheap: a place whose three bytes are not in the set needs no look.
type grams [1 << 15]bool

// gramSize is how many bytes a place is found by.
const gramSize = 3

const (
	fiveBits = 0x1f1f1f1f1f1f1f1f
	gramMask = 1<<15 - 1
)

func gramOf(b string) int {
	return int(b[0]&31) | int(b[1]&31)<<5 | int(b[2]&31)<<10
}

func gramAt(b []byte, i int) int {
	return int(b[i]&31) | int(b[i+1]&31)<<5 | int(b[i+2]&31)<<10
}

// next is the first place from i on whose three bytes are in the set, or the first that has no three.
func (g *grams) next(b []byte, i int) int {
	for ; i+8 <= len(b); i += 6 {
		w := packed(binary.LittleEndian.Uint64(b[i:]))
		switch {
		case g[w&gramMask]:
			return i
		case g[w>>5&gramMask]:
			return i + 1
		case g[w>>10&gramMask]:
			return i + 2
		case g[w>>15&gramMask]:
			return i + 3
		case g[w>>20&gramMask]:
			return i + 4
		case g[w>>25&gramMask]:
			return i + 5
		}
	}
	for ; i+3 <= len(b); i++ {
		if g[gramAt(b, i)] {
			return i
		}
	}
	return max(i, len(b)-2)
}

// packed puts the lower five bits of eight bytes beside each other.
func packed(w uint64) uint64 {
	w &= fiveBits
	w = w&0x00ff00ff00ff00ff | w>>3&0x03e003e003e003e0
	w = w&0x000003ff000003ff | w>>6&0x000ffc00000ffc00
	return w&0xfffff | w>>12&0xfffff00000
}

// per1000 is how often bytes of each five bits are met in a thousand of code, data and logs (the standard library of Go and this
// module, of 6.5 MB).
func per1000(five byte) int {
	return [32]int{130, 41, 27, 24, 21, 73, 20, 14, 27, 87, 34, 7, 47, 18, 60, 47, 36, 7, 54, 43, 62, 21, 10, 10, 17, 9, 12, 12, 5, 19, 1, 4}[five]
}

// usual are words that logs and code are full of, so that none of their parts is rare, whatever its letters.
const usual = "package packet background tracking stacks patterns path patch dispatch match accept access account update dapp data command comment " +
	"complete company common buffer different suffix config figure office effect upper mapping specific special request response quick sequence " +
	"expected text next context exit example maximum index object project subject key value available version environment service server " +
	"worker work network know window follow new review view job jobs big debug bug major julia verify query every very system dynamic style type " +
	"message session book look platform class base table summary team signal " +
	"---- ==== .... ____ ://www. .com .org _id _at -- == :: // ss ff ll ee oo http https function interface public static void return"

// rarest is the place in word of its rarest three bytes, which stand for it.
func rarest(word string) int {
	const often = 50 // times as often as its letters tell
	best, least := 0, 1<<30
	for i := 0; i+gramSize <= len(word); i++ {
		product := 1
		for _, c := range []byte(word[i : i+gramSize]) {
			product *= per1000(c & 31)
		}
		if strings.Contains(usual, strings.ToLower(word[i:i+gramSize])) {
			product *= often
		}
		if product < least {
			best, least = i, product
		}
	}
	return best
}
