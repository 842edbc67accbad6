package aesop

import (
	"path/filepath"

	"aesop/wave"
)

// RepositoryFile is where the root of a repository says what is special about it.
const RepositoryFile = "aesop.json"

// repository is the part of the settings that a repository may have for itself.
func (s Settings) repository() wave.Repository {
	return wave.Repository{Remote: s.Remote, Base: s.Base, Local: s.Ship == "local", Verify: s.Verify, Prepare: s.Prepare, Carry: s.Carry}
}

// repositorySettings reads the keys remote, base, ship, verify, prepare and carry of the aesop.json at the root of a repository that the backlog names. The
// repository of Config.Repo has said what it has to say: its file is a source of the settings themselves.
func (c Config) repositorySettings(p Place) func(string, wave.Repository) (wave.Repository, error) {
	return func(root string, common wave.Repository) (wave.Repository, error) {
		if at, err := filepath.EvalSymlinks(p.Repo); err == nil && at == root {
			return common, nil
		}
		own, rows, err := LoadSettings(Sources{File: filepath.Join(root, RepositoryFile)})
		if err != nil {
			return common, err
		}
		for _, row := range rows {
			if row.Source != "file" {
				continue
			}
			switch row.Key {
			case "remote":
				common.Remote = own.Remote
			case "ship":
				common.Local = own.Ship == "local"
			case "base":
				common.Base = own.Base
			case "verify":
				common.Verify = own.Verify
			case "prepare":
				common.Prepare = own.Prepare
			case "carry":
				common.Carry = own.Carry
			}
		}
		return common, nil
	}
}
