// Package script is a driver without a model: it plays what a file says, for tests, demonstrations and dry runs of a setup.
//
// A script maps the slug of an item to its attempts. The first dispatch of an item plays the first attempt, its first repair
// the second, and so on; the last one repeats:
//
//	{
//	  "add-greeting": [
//	    {"files": {"greeting.txt": "good day\n"}, "say": "done", "usage": {"input": 900, "output": 40}},
//	    {"sleep": "1s", "files": {"greeting.txt": "hello\n"}},
//	  ],
//	  "flaky": [{"exec": "make", "fail": "overloaded"}],
//	}
//
// The steps of an attempt happen in this order, however they are written: sleep (a duration), files (path to text), delete
// (paths), exec (a line for sh, or program and arguments), say (last words), usage (token counts), fail (an error class).
package script

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"aesop/cost"
	"aesop/driver"
	"aesop/internal/document"
)

// Driver plays a script.
type Driver struct {
	file     string
	attempts map[string][]attempt // by slug; never empty for one that is there
}

// attempt is what one dispatch plays.
type attempt struct {
	sleep  time.Duration
	files  []file // in the order of the script
	remove []string
	exec   []string // program and arguments; nil: none
	say    string
	usage  *cost.Usage
	fail   driver.Class // "": it succeeds
}

type file struct{ path, text string }

// Open reads a script. An error names the place in the file.
func Open(name string) (*Driver, error) {
	data, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &document.Error{Code: "missing", File: name, Message: "there is no such script", Err: err}
	case err != nil:
		return nil, &document.Error{Code: "unreadable", File: name, Message: "the script cannot be read", Hint: err.Error(), Err: err}
	}
	return Parse(name, data)
}

// Info describes the script. It is metered where every attempt says what it used.
func (d *Driver) Info() driver.Info {
	metered := len(d.attempts) > 0
	for _, attempts := range d.attempts {
		for _, a := range attempts {
			metered = metered && a.usage != nil
		}
	}
	return driver.Info{Name: "script", Tier: 4, Metered: metered}
}
