package cli

import "os"

// Sizes of a terminal that does not say.
const (
	usualColumns = 80
	usualRows    = 24
)

// findTerminals finds out what of the person's is a terminal.
func (c *Context) findTerminals(stdin, stderr *os.File, lookup func(string) (string, bool)) {
	_, _, shows := terminalSize(stderr)
	_, _, asks := terminalSize(stdin)
	c.Interactive = asks && shows
	term, _ := lookup("TERM")
	if noColor, _ := lookup("NO_COLOR"); shows && noColor == "" && term != "dumb" {
		c.Screen = NewScreen(stderr, func() (columns, rows int) {
			columns, rows, _ = terminalSize(stderr)
			if columns <= 0 {
				columns = usualColumns
			}
			if rows <= 0 {
				rows = usualRows
			}
			return columns, rows
		})
	}
}
