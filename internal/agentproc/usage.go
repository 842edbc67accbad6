package agentproc

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"aesop/cost"
	"aesop/internal/document"
)

// usageFile is where a program may say what it used, in the folder of its attempt.
const usageFile = "usage.json"

// usageLimit is far above any honest usage file.
const usageLimit = 64 << 10

// ReadUsage reads the usage that a program left in the folder of its attempt. With no file, found is false. The program could
// put anything there, so that only a small regular file inside the folder is opened.
func ReadUsage(attemptDir string) (usage cost.Usage, found bool, err error) {
	if attemptDir == "" {
		return cost.Usage{}, false, nil
	}
	root, err := os.OpenRoot(attemptDir)
	if errors.Is(err, fs.ErrNotExist) {
		return cost.Usage{}, false, nil
	}
	if err != nil {
		return cost.Usage{}, true, err
	}
	defer root.Close()
	info, err := root.Lstat(usageFile)
	if errors.Is(err, fs.ErrNotExist) {
		return cost.Usage{}, false, nil
	}
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("read %s: not a regular file", usageFile)
	}
	if err != nil {
		return cost.Usage{}, true, err
	}
	data, err := readRegular(root, usageFile)
	if err != nil {
		return cost.Usage{}, true, err
	}
	doc, err := document.Parse(filepath.Join(attemptDir, usageFile), data)
	if err != nil {
		return cost.Usage{}, true, err
	}
	usage, err = Usage(doc.Root())
	return usage, true, err
}

// readRegular looks at the file again once it is open, for it can have been swapped; O_NONBLOCK keeps a fifo from blocking.
func readRegular(root *os.Root, name string) ([]byte, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > usageLimit {
		return nil, fmt.Errorf("read %s: not a regular file of at most %d bytes", name, usageLimit)
	}
	return io.ReadAll(io.LimitReader(f, usageLimit))
}

// Usage reads an object of token counts. Input and output must be said, for an absent count is unknown and not zero; a model
// that knows no cache or reasoning leaves those counts out.
func Usage(n document.Node) (cost.Usage, error) {
	members, err := n.Object()
	if err != nil {
		return cost.Usage{}, err
	}
	u := cost.Usage{Metered: true}
	counts := map[string]*int64{"input": &u.Input, "cacheRead": &u.CacheRead, "cacheWrite5m": &u.CacheWrite5m,
		"cacheWrite1h": &u.CacheWrite1h, "output": &u.Output, "reasoning": &u.Reasoning}
	known := []string{"model", "input", "cacheRead", "cacheWrite5m", "cacheWrite1h", "output", "reasoning"}
	said := map[string]bool{}
	for _, m := range members {
		said[m.Name] = true
		if m.Name == "model" {
			u.Model, err = m.Value.Text()
		} else if count, ok := counts[m.Name]; ok {
			*count, err = m.Value.Int()
		} else {
			err = m.Unknown(known)
		}
		if err != nil {
			return cost.Usage{}, err
		}
	}
	for _, name := range []string{"input", "output"} {
		if !said[name] {
			return cost.Usage{}, n.Errorf("shape", "the key %q is missing", name)
		}
	}
	if err := u.Check(); err != nil {
		return cost.Usage{}, n.Errorf("shape", "%v", err)
	}
	return u, nil
}
