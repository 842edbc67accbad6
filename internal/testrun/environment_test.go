package testrun_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aesop/internal/testrun"
)

// from looks variables up in a map.
func from(values map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { value, ok := values[name]; return value, ok }
}

// asMap is an environment as a child sees it: of several entries the last counts.
func asMap(env []string) map[string]string {
	values := map[string]string{}
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		values[name] = value
	}
	return values
}

func mkdir(t *testing.T, parts ...string) string {
	t.Helper()
	dir := filepath.Join(parts...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func environment(t *testing.T, values map[string]string, pass ...string) (env map[string]string, private string) {
	t.Helper()
	private = filepath.Join(t.TempDir(), "private")
	list, err := testrun.Environment(from(values), pass, private)
	if err != nil {
		t.Fatal(err)
	}
	return asMap(list), private
}

func TestBaseIsAnAllowList(t *testing.T) {
	values := map[string]string{"PATH": "/bin", "LANG": "C", "USER": "u", "HOME": "/home/u", "PROVIDER_API_KEY": "k", "AESOP_TOKEN": "t", "SSH_AUTH_SOCK": "/s",
		"HTTPS_PROXY": "http://p", "WANTED": "w", "EMPTY": ""}
	got := testrun.Base(from(values), []string{"WANTED", "EMPTY", "ABSENT"})
	slices.Sort(got)
	if want := []string{"EMPTY=", "LANG=C", "PATH=/bin", "USER=u", "WANTED=w"}; !slices.Equal(got, want) {
		t.Errorf("environment %q, want %q", got, want)
	}
}

// TestHomeCachesAndTemporaryFilesArePrivate, whatever the user has or passes.
func TestHomeCachesAndTemporaryFilesArePrivate(t *testing.T) {
	home := t.TempDir()
	values := map[string]string{"PATH": "/bin", "HOME": home, "TMPDIR": "/var/tmp", "GOCACHE": "/gc", "GOPATH": "/gp", "GOFLAGS": "-mod=mod", "CARGO_HOME": "/ch",
		"XDG_CACHE_HOME": "/xc", "XDG_CONFIG_HOME": "/xf", "PROVIDER_API_KEY": "k"}
	env, private := environment(t, values, "HOME", "TMPDIR", "GOCACHE", "GOFLAGS")
	for _, name := range []string{"HOME", "TMPDIR", "TMP", "TEMP", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "GOCACHE", "GOPATH",
		"CARGO_HOME", "npm_config_cache", "PIP_CACHE_DIR"} {
		info, err := os.Stat(env[name])
		if !strings.HasPrefix(env[name], private+string(filepath.Separator)) || err != nil || !info.IsDir() {
			t.Errorf("%s is %q (%v), not a folder below %s", name, env[name], err, private)
		}
	}
	for _, name := range []string{"GOCACHE", "GOPATH", "CARGO_HOME", "npm_config_cache", "PIP_CACHE_DIR"} {
		if !strings.HasPrefix(env[name], env["XDG_CACHE_HOME"]+string(filepath.Separator)) {
			t.Errorf("%s is %q, outside of the caches that are kept", name, env[name])
		}
	}
	for name, want := range map[string]string{"GOFLAGS": "-modcacherw", "GOTOOLCHAIN": "local", "CI": "true", "PATH": "/bin", "GOPROXY": "direct"} {
		if env[name] != want {
			t.Errorf("%s is %q, want %q", name, env[name], want)
		}
	}
	if _, ok := env["PROVIDER_API_KEY"]; ok {
		t.Error("a key is in the environment")
	}
}

func TestToolchainsOfTheHome(t *testing.T) {
	home := t.TempDir()
	mkdir(t, home, ".rustup")
	mkdir(t, home, ".pyenv")
	env, _ := environment(t, map[string]string{"HOME": home, "PYENV_ROOT": "/opt/pyenv", "GOROOT": "/opt/go"})
	for name, want := range map[string]string{"RUSTUP_HOME": filepath.Join(home, ".rustup"), "PYENV_ROOT": "/opt/pyenv", "GOROOT": "/opt/go"} {
		if env[name] != want {
			t.Errorf("%s is %q, want %q", name, env[name], want)
		}
	}
	for _, name := range []string{"NVM_DIR", "JAVA_HOME"} {
		if value, ok := env[name]; ok {
			t.Errorf("%s is %q", name, value)
		}
	}
}

func TestGoProxyIsTheUsersDownloadCache(t *testing.T) {
	home, other, third := t.TempDir(), t.TempDir(), t.TempDir()
	inHome := mkdir(t, home, "go/pkg/mod/cache/download")
	inPath := mkdir(t, other, "pkg/mod/cache/download")
	inCache := mkdir(t, third, "cache/download")
	for name, tt := range map[string]struct {
		values map[string]string
		want   string
	}{
		"home":      {map[string]string{"HOME": home}, "file://" + inHome + ",direct"},
		"GOPATH":    {map[string]string{"HOME": home, "GOPATH": other + string(filepath.ListSeparator) + "/x"}, "file://" + inPath + ",direct"},
		"cache":     {map[string]string{"HOME": home, "GOPATH": other, "GOMODCACHE": third}, "file://" + inCache + ",direct"},
		"upstream":  {map[string]string{"HOME": home, "GOPROXY": "off"}, "file://" + inHome + ",off"},
		"none":      {map[string]string{"HOME": t.TempDir()}, "direct"},
		"no home":   {map[string]string{}, "direct"},
		"only that": {map[string]string{"HOME": t.TempDir(), "GOPROXY": "https://goproxy.example"}, "https://goproxy.example"},
	} {
		if env, _ := environment(t, tt.values); env["GOPROXY"] != tt.want {
			t.Errorf("%s: GOPROXY is %q, want %q", name, env["GOPROXY"], tt.want)
		}
	}
}

func TestEnvironmentThatCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := testrun.Environment(from(nil), nil, file); err == nil {
		t.Error("a file was taken for a folder")
	}
}
