package testrun

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// always are the variables that every child gets: where programs are and how to talk.
func always() []string {
	return []string{"PATH", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "USER", "LOGNAME", "SHELL",
		"SystemRoot", "SystemDrive", "ComSpec", "PATHEXT", "windir", "NUMBER_OF_PROCESSORS"}
}

// toolchain is a program that may be installed below the home folder.
type toolchain struct{ name, below string }

// toolchains are programs installed below the home folder: the variable that says where, and its place where it is not set.
func toolchains() []toolchain {
	return []toolchain{
		{"RUSTUP_HOME", ".rustup"}, {"PYENV_ROOT", ".pyenv"}, {"NVM_DIR", ".nvm"}, {"RBENV_ROOT", ".rbenv"}, {"SDKMAN_DIR", ".sdkman"},
		{"GOROOT", ""}, {"JAVA_HOME", ""},
	}
}

// Base are the variables of lookup that every child may see, and those named by pass.
func Base(lookup func(string) (string, bool), pass []string) []string {
	var env []string
	for _, name := range slices.Concat(always(), pass) {
		value, ok := lookup(name)
		if !ok {
			continue
		}
		if name == "PATH" {
			value = absolute(value)
		}
		env = append(env, name+"="+value)
	}
	return env
}

// absolute keeps the entries of a PATH that mean the same everywhere: another would find programs in the tree of an agent.
func absolute(path string) string {
	entries := slices.DeleteFunc(filepath.SplitList(path), func(entry string) bool { return !filepath.IsAbs(entry) })
	return strings.Join(entries, string(filepath.ListSeparator))
}

// Environment is the whole environment of a test whose home, caches and temporary files are below private. The variables come
// from lookup: those of Base, and where toolchains and, to read from, the user's download caches are.
func Environment(lookup func(string) (string, bool), pass []string, private string) ([]string, error) {
	env := Base(lookup, pass)
	add := func(name, value string) { env = append(env, name+"="+value) }
	home, _ := lookup("HOME")
	for _, t := range toolchains() {
		if value, ok := lookup(t.name); ok {
			add(t.name, value)
		} else if place := filepath.Join(home, t.below); home != "" && t.below != "" && isDir(place) {
			add(t.name, place)
		}
	}
	for _, folder := range []struct{ name, below string }{
		{"HOME", "home"}, {"TMPDIR", "tmp"}, {"TMP", "tmp"}, {"TEMP", "tmp"}, {"XDG_CACHE_HOME", "cache"}, {"XDG_CONFIG_HOME", "home/.config"},
		{"XDG_STATE_HOME", "home/.local/state"}, {"XDG_DATA_HOME", "home/.local/share"},
		{"GOCACHE", "cache/go-build"}, {"GOPATH", "cache/go"}, {"CARGO_HOME", "cache/cargo"}, {"npm_config_cache", "cache/npm"}, {"PIP_CACHE_DIR", "cache/pip"},
	} {
		place := filepath.Join(private, folder.below)
		if err := os.MkdirAll(place, 0o700); err != nil {
			return nil, err
		}
		add(folder.name, place)
	}
	add("GOTOOLCHAIN", "local")
	add("GOFLAGS", "-modcacherw")
	add("GOPROXY", goProxy(lookup, home))
	add("CI", "true")
	return env, nil
}

// goProxy serves modules from the user's download cache first. Go checks what comes from there against go.sum, so a cache that
// was tampered with fails the build; the unpacked sources, which nothing checks, are not used.
func goProxy(lookup func(string) (string, bool), home string) string {
	upstream, ok := lookup("GOPROXY")
	if !ok || upstream == "" {
		upstream = "direct"
	}
	cache, ok := lookup("GOMODCACHE")
	if !ok || cache == "" {
		if gopath, ok := lookup("GOPATH"); ok && gopath != "" {
			cache = filepath.Join(filepath.SplitList(gopath)[0], "pkg", "mod")
		} else {
			cache = filepath.Join(home, "go", "pkg", "mod")
		}
	}
	download := filepath.Join(cache, "cache", "download")
	if !filepath.IsAbs(download) || !isDir(download) {
		return upstream
	}
	return "file://" + filepath.ToSlash(download) + "," + strings.TrimPrefix(upstream, ",")
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
