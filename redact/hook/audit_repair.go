package hook

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// settle compares the end of the log with the anchor, and puts in order what an append that was cut off can leave: a line without its
// end, or a line that the anchor does not have yet.
func settle(root *os.Root, file *os.File, anchor Head) (head Head, repaired Code, err error) {
	last, torn, err := tail(file)
	if err != nil {
		return head, "", err
	}
	found, previous := Head{0, Genesis}, ""
	if last != nil {
		var e Entry
		if err := strict(last, &e); err != nil {
			return head, "", fmt.Errorf("%w: its last line is not readable: %w", ErrDamaged, err)
		}
		found, previous = Head{e.Seq, digest(last)}, e.PrevHash
	}
	switch {
	case found == anchor:
	case found.Seq == anchor.Seq+1 && previous == anchor.Hash:
		if err := writeAnchor(root, found); err != nil {
			return head, "", err
		}
		repaired = AnchorBehind
	default:
		return head, "", fmt.Errorf("%w: it ends with entry %d, and the anchor says %d", ErrDamaged, found.Seq, anchor.Seq)
	}
	if torn > 0 {
		size, err := file.Seek(0, io.SeekEnd)
		if err == nil {
			err = file.Truncate(size - torn)
		}
		if err = errors.Join(err, file.Sync()); err != nil {
			return head, "", err
		}
		repaired = TornLine
	}
	return found, repaired, nil
}

// tail is the last whole line of a log, nil where there is none, and how many bytes come after it.
func tail(file *os.File) (last []byte, torn int64, err error) {
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	from := max(0, info.Size()-2*longest)
	data := make([]byte, info.Size()-from)
	if _, err := file.ReadAt(data, from); err != nil && err != io.EOF {
		return nil, 0, err
	}
	end := bytes.LastIndexByte(data, '\n')
	torn = int64(len(data) - end - 1)
	begin := 0
	if end >= 0 {
		begin = bytes.LastIndexByte(data[:end], '\n') + 1
	}
	if torn > longest || from > 0 && (end < 0 || begin == 0) {
		return nil, 0, fmt.Errorf("%w: it ends with a line that is too long", ErrDamaged)
	}
	if end < 0 {
		return nil, torn, nil
	}
	return data[begin:end], torn, nil
}
