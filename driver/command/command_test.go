package command_test

import (
	"testing"

	"aesop/driver/command"
)

func TestEmptyLineIsRefused(t *testing.T) {
	for _, line := range []string{"", " \n"} {
		if _, err := command.New(command.Config{Line: line}); err == nil {
			t.Errorf("%q was taken", line)
		}
	}
}
