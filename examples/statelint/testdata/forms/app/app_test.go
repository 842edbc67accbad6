package app

import (
	"os"
	"testing"
)

func TestTestsAreExempt(t *testing.T) { os.WriteFile("HALT", nil, 0o600) }
