// Package redacttest makes text with and without secrets, for tests of what takes secrets out. All of it is made at run time from a
// seed, so that no tree holds what looks like a secret.
//
//	rng := rand.New(rand.NewPCG(1, 2))
//	secrets, clean := redacttest.Corpus(rng)
package redacttest

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

const (
	digits = "0123456789"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// alphabet is the characters of a class that shapes name.
func alphabet(class string) string {
	switch class {
	case "hex":
		return digits + "abcdef"
	case "HEX":
		return digits + "ABCDEF"
	case "digit":
		return digits
	case "lower":
		return lower
	case "upper":
		return upper
	case "alpha":
		return lower + upper
	case "alnum":
		return digits + lower + upper
	case "ALNUM":
		return digits + upper
	case "base64":
		return digits + lower + upper + "+/"
	case "base64url":
		return digits + lower + upper + "-_"
	case "BECH32": // of BIP 173
		return "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"
	case "word":
		return digits + lower + upper + "_"
	}
	return ""
}

// Fill is shape with each part like {hex:40} replaced by that many random characters of the class: hex, HEX, digit, lower, upper, alpha,
// alnum, ALNUM (capitals and digits), base64, base64url, BECH32 or word. Other braces stay as they are.
func Fill(rng *rand.Rand, shape string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(shape, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		part, after, _ := strings.Cut(rest, "}")
		class, count, _ := strings.Cut(part, ":")
		from := alphabet(class)
		n, err := strconv.Atoi(count)
		if from == "" || err != nil {
			b.WriteByte('{')
			shape = rest
			continue
		}
		b.WriteString(random(rng, from, n))
		shape = after
	}
}

func random(rng *rand.Rand, from string, n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = from[rng.IntN(len(from))]
	}
	return string(text)
}
