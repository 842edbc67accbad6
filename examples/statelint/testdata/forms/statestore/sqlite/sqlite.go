package sqlite

import "os"

type Config struct{ Path string }

func Open(c Config) error {
	_, err := os.Stat(c.Path)
	return check(c, err)
}

func check(c Config, err error) error {
	if _, there := os.Stat(c.Path + "-wal"); there != nil {
		return there
	}
	return err
}
