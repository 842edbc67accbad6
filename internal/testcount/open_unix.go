//go:build unix

package testcount

import "syscall"

// openFlags keep a fifo that was swapped in from blocking the reader.
const openFlags = syscall.O_NONBLOCK
