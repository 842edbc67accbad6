package cost

import "os"

type AlertFile string

func (path AlertFile) Alert(text string) error {
	f, err := os.OpenFile(string(path), os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return err
}
