//go:build !linux

package main

import "testing"

func TestOnATerminal(t *testing.T) {
	t.Skip("not applicable: terminals are made here as on Linux only")
}
