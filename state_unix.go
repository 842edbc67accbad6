//go:build !windows

package aesop

func stateRoots() []rootPlace {
	return []rootPlace{{"XDG_STATE_HOME", ""}, {"HOME", ".local/state"}}
}
