package redact

import (
	"bytes"
	"hash/crc32"
)

// base62CRC says whether the last six characters of a token are the CRC-32 of the thirty before, as GitHub and npm make them: in base 62,
// with digits, then capitals, then small letters (github.blog, "Behind GitHub's new authentication token formats").
func base62CRC(token []byte) bool {
	const base, random, sum = 62, 30, 6
	_, body, _ := bytes.Cut(token, []byte("_"))
	if len(body) != random+sum {
		return false
	}
	left := uint32(0)
	for _, c := range body[random:] {
		digit := bytes.IndexByte([]byte("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"), c)
		if digit < 0 {
			return false
		}
		left = left*base + uint32(digit)
	}
	return left == crc32.ChecksumIEEE(body[:random])
}
