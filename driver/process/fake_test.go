//go:build unix

package process_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"aesop/driver/process"
)

// runFake plays a child program and returns its exit code. Those that stay print "PID ready" once they are what they play.
func runFake(name string, args []string) int {
	switch name {
	case "stay", "ignore-term":
		if name == "ignore-term" {
			signal.Ignore(syscall.SIGTERM)
		}
		fmt.Println(os.Getpid(), "ready")
		<-time.After(time.Hour)
	case "obey-term":
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		fmt.Println(os.Getpid(), "ready")
		<-c
		fmt.Println("bye")
		return 7
	case "echo":
		n, _ := io.Copy(os.Stdout, os.Stdin)
		fmt.Fprintf(os.Stderr, "%d bytes\n", n)
	case "long-line":
		block := bytes.Repeat([]byte("x"), 1<<20)
		for range 100 {
			os.Stdout.Write(block)
		}
		fmt.Print("\nend\n")
	case "exit-3":
		fmt.Fprintln(os.Stderr, "no good")
		return 3
	case "signal":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		<-time.After(time.Hour)
	case "chatty":
		return chat(os.Stdout, 1<<30)
	case "chatty-for-a-while":
		return chat(os.Stderr, 40)
	case "environment":
		for _, e := range os.Environ() {
			fmt.Println(e)
		}
	case "touch":
		_ = os.WriteFile("touched", nil, 0o644)
	case "leave": // a child without the named signs, and end
		fmt.Print(spawn(args, "ignore-term"))
	case "leave-orphan": // the same at one remove, so that nothing descends from us
		awaitLimit()
		fmt.Print(spawn(args, append([]string{"leave"}, args...)...))
	case "leave-and-stay":
		fmt.Print(spawn(args, "ignore-term"))
		<-time.After(time.Hour)
	case "leave-two-and-stay":
		awaitLimit()
		unmarked := spawn([]string{"session", "environment"}, "leave", "session")
		marked := spawn([]string{"session", "limit"}, "leave", "session") // loses our limit too
		fmt.Println(strings.TrimSuffix(marked, " ready\n"), strings.TrimSuffix(unmarked, " ready\n"))
		<-time.After(time.Hour)
	case "host":
		return host(args)
	case "confining-host":
		return confiningHost()
	case "kill-own-mark":
		mark := os.Getenv("AESOP_MARK")
		_, err := process.Kill(context.Background(), func(m string) bool { return m == mark })
		fmt.Println("alive", err)
	default:
		panic("no fake " + name)
	}
	return 0
}

func chat(w io.Writer, lines int) int {
	tick := time.NewTicker(50 * time.Millisecond)
	for i := range lines {
		fmt.Fprintln(w, i)
		<-tick.C
	}
	return 0
}

// spawn starts a fake that lost the given signs of belonging to us and that keeps our standard error open. It returns the
// line that the fake prints when it is ready.
func spawn(lost []string, fake ...string) string {
	r, w, err := os.Pipe()
	check(err)
	cmd := exec.Command(os.Args[0], append([]string{"fake"}, fake...)...)
	cmd.Stdout, cmd.Stderr = w, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: slices.Contains(lost, "session")}
	if slices.Contains(lost, "group") {
		cmd.SysProcAttr.Setpgid = true
	}
	if slices.Contains(lost, "environment") {
		cmd.Env = []string{}
	}
	if slices.Contains(lost, "directory") {
		cmd.Dir = "/"
	}
	if slices.Contains(lost, "limit") {
		loseLimit()
	}
	check(cmd.Start())
	check(w.Close())
	line, err := bufio.NewReader(r).ReadString('\n')
	check(err)
	return line
}

// host runs a child with process.Run, as the programs that use the package do. Its arguments are mark, directory, fake.
func host(args []string) int {
	_, err := process.Run(context.Background(), process.Command{
		Argv: append([]string{os.Args[0], "fake"}, args[2:]...), Mark: args[0], Dir: args[1], Stdout: os.Stdout,
	})
	check(err)
	return 0
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
