// Package other has a package open what that does not own.
package other

import "aesop/helper"

func Open() { helper.Backlog("HALT") } // want HALT
