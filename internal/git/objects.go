package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// Objects reads what a repository holds: its objects, refs and index, never its work tree. It runs nothing that the repository names,
// asks no remote, and sees objects as they are, without replacements and grafts. It is not safe for concurrent use. Close it.
type Objects struct {
	program Program
	dir     string // the git directory
	env     []string
	shallow map[SHA]bool // commits whose parents are not here

	batch  *exec.Cmd // ends with the context of OpenObjects
	ask    io.WriteCloser
	answer *bufio.Reader
	said   bytes.Buffer // on standard error
	unread int64        // bytes of the last object's content that nobody read, with its line break
}

// ErrAbsent says that an object is not in the repository, as in a shallow or partial clone, or that nothing has such a name.
var ErrAbsent = errors.New("the object is not here")

// ErrShallow says that commits were asked for whose parents a shallow clone left out.
var ErrShallow = errors.New("the repository is a shallow clone, and what was asked for goes beyond its end")

// OpenObjects reads the repository of a git directory. more are variables for git, such as other folders of objects. Objects are read
// until ctx ends.
func (p Program) OpenObjects(ctx context.Context, gitDir string, more ...string) (*Objects, error) {
	env := neutralEnv(gitDir, "GIT_GRAFT_FILE="+os.DevNull, "GIT_OPTIONAL_LOCKS=0",
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none") // the second for a git that does not know the first
	o := &Objects{program: p, dir: gitDir, env: append(env, more...), shallow: map[SHA]bool{}}
	place, err := o.run(ctx, nil, "rev-parse", "--path-format=absolute", "--git-path", "shallow")
	if err != nil {
		return nil, err
	}
	cut, err := os.ReadFile(strings.TrimSuffix(string(place), "\n"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for id := range strings.FieldsSeq(string(cut)) {
		o.shallow[id] = true
	}
	return o, o.start(ctx)
}

// Objects reads the user's repository. Folders of objects that the environment names are looked into too: a push whose objects come from
// there has its hook see them.
func (u *User) Objects(ctx context.Context) (*Objects, error) {
	var more []string
	for _, name := range []string{"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES"} {
		if value, set := os.LookupEnv(name); set {
			more = append(more, name+"="+value)
		}
	}
	return u.program.OpenObjects(ctx, u.GitDir, more...)
}

func (o *Objects) start(ctx context.Context) (err error) {
	o.batch = o.command(ctx, "cat-file", "--batch")
	o.batch.Stderr = &o.said
	if o.ask, err = o.batch.StdinPipe(); err != nil {
		return err
	}
	out, err := o.batch.StdoutPipe()
	if err != nil {
		return err
	}
	o.answer = bufio.NewReaderSize(out, 64<<10)
	return o.batch.Start()
}

// Close ends the program that reads. It may be called again.
func (o *Objects) Close() {
	_ = o.ask.Close()
	if o.batch.ProcessState == nil {
		_ = o.batch.Process.Kill() // it may still have an object to write
		_ = o.batch.Wait()
	}
}

// command is a git command on the repository. A file with a precomputed graph could say what it likes of commits, and a monitor of files
// is a program: neither is used. And git need not say that grafts are an old thing.
func (o *Objects) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, o.program.path, append([]string{"-c", "core.commitGraph=false", "-c", "core.fsmonitor=false",
		"-c", "advice.graftFileDeprecated=false"}, args...)...)
	cmd.Env, cmd.Dir = o.env, o.dir
	return cmd
}

func (o *Objects) run(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	cmd := o.command(ctx, args...)
	return o.program.run(ctx, call{env: cmd.Env, dir: cmd.Dir, stdin: stdin, args: cmd.Args[1:]})
}

// Object is an object's content, to be read before the next is asked for.
type Object struct {
	ID   SHA
	Type string // commit, tree, blob or tag
	Size int64
	io.Reader
}

// Object finds an object by its id, or by any other name that git has for one. The error can be ErrAbsent.
func (o *Objects) Object(name string) (Object, error) {
	if name == "" || strings.ContainsAny(name, "\n\x00") {
		return Object{}, fmt.Errorf("%q: %w", name, ErrAbsent)
	}
	if _, err := io.CopyN(io.Discard, o.answer, o.unread); err != nil {
		return Object{}, o.ended(err)
	}
	o.unread = 0
	if _, err := io.WriteString(o.ask, name+"\n"); err != nil {
		return Object{}, o.ended(err)
	}
	line, err := o.answer.ReadString('\n')
	if err != nil {
		return Object{}, o.ended(err)
	}
	line = strings.TrimSuffix(line, "\n")
	fields := strings.Fields(line)
	if len(fields) != 3 || !IsSHA(fields[0]) || line == name+" missing" || line == name+" ambiguous" {
		return Object{}, fmt.Errorf("%s: %w", name, ErrAbsent)
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return Object{}, fmt.Errorf("git cat-file: cannot read %q", line)
	}
	o.unread = size + 1
	return Object{ID: fields[0], Type: fields[1], Size: size, Reader: &content{o}}, nil
}

// content is what is left of the last object.
type content struct{ o *Objects }

func (c *content) Read(p []byte) (int, error) {
	left := c.o.unread - 1 // but for the line break
	if left <= 0 {
		return 0, io.EOF
	}
	n, err := c.o.answer.Read(p[:min(int64(len(p)), left)])
	c.o.unread -= int64(n)
	if err != nil {
		err = c.o.ended(err)
	}
	return n, err
}

// ended says why the program stopped answering.
func (o *Objects) ended(err error) error {
	o.Close()
	return readError("cat-file", -1, o.said.Bytes(), err)
}

// readError is the failure of a program that reads. In a partial clone git ends where it may not fetch what is missing.
func readError(command string, code int, said []byte, err error) error {
	if bytes.Contains(said, []byte("promisor remote")) {
		code, err = -1, ErrAbsent
	}
	return &Error{Args: []string{command}, Code: code, Stderr: tail(said, 4096), Err: err}
}
