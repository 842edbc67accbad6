package cli

import (
	"os"

	"golang.org/x/sys/windows"
)

// terminalSize is the size of the console that f is; ok is false where it is none, or one that cannot move its cursor when told.
func terminalSize(f *os.File) (columns, rows int, ok bool) {
	handle := windows.Handle(f.Fd())
	var mode uint32
	if err := windows.GetConsoleMode(handle, &mode); err != nil {
		return 0, 0, false
	}
	var info windows.ConsoleScreenBufferInfo
	if err := windows.GetConsoleScreenBufferInfo(handle, &info); err != nil {
		// input has no size, and is a console all the same
		return 0, 0, true
	}
	if err := windows.SetConsoleMode(handle, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING); err != nil {
		return 0, 0, false
	}
	return int(info.Window.Right-info.Window.Left) + 1, int(info.Window.Bottom-info.Window.Top) + 1, true
}
