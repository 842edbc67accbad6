package sqlite

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// SQLite reads its log up to the first frame whose checksum is wrong, and takes the rest for the torn end of a transaction that
// a power cut interrupted. So a damaged log would silently lose what was acknowledged. Two things tell the one from the other,
// because a transaction is on the disk before it is acknowledged and before the next one is written: the shared memory beside
// the log says how many frames were committed, and behind a torn end there is no second commit.
const (
	logHeaderSize   = 32
	frameHeaderSize = 24
)

// checkLog refuses a log that lost what was committed to it. The caller holds the gate, so nobody writes to the log; who closes
// the database meanwhile removes first the shared memory and then the log.
func checkLog(path string) error {
	shared, err := readShared(path)
	if err != nil {
		return err
	}
	lost, err := examineLog(path+"-wal", shared)
	if err != nil || lost == nil {
		return err
	}
	if after, err := readShared(path); err != nil || after != shared {
		return err // another process moved the log into the database and removed it
	}
	return &DamagedError{path, fmt.Errorf("its log %s-wal has lost what was committed: %w", path, lost)}
}

// sharedState is what the shared memory says of the log; frames is 0 where it says nothing.
type sharedState struct {
	frames, moved uint32 // committed, and of those moved into the database
	salt          [8]byte
}

// sharedHead is the size of the two copies of the head of the shared memory and of the number that follows.
const sharedHead = 2*48 + 4

// readShared reads the head of the shared memory, which SQLite keeps twice and with a checksum, in the machine's byte order.
func readShared(path string) (sharedState, error) {
	const size = 48
	head, err := readSharedHead(path + "-shm")
	if err != nil || len(head) < sharedHead || !bytes.Equal(head[:size], head[size:2*size]) || head[12] != 1 {
		return sharedState{}, err
	}
	order := binary.NativeEndian
	a, b := logSum(order, 0, 0, head[:40])
	if a != order.Uint32(head[40:]) || b != order.Uint32(head[44:]) {
		return sharedState{}, nil
	}
	s := sharedState{frames: order.Uint32(head[16:]), moved: order.Uint32(head[2*size:])}
	copy(s.salt[:], head[32:40])
	return s, nil
}

// examineLog says what a log has lost, or nil.
func examineLog(path string, shared sharedState) (lost, err error) {
	unmoved := shared.frames > shared.moved
	file, err := os.Open(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	head := make([]byte, logHeaderSize)
	whole := false
	var frames *bufio.Reader
	if err == nil {
		defer file.Close()
		frames = bufio.NewReaderSize(file, 1<<16)
		if whole, err = readWhole(frames, head); err != nil {
			return nil, err
		}
	}
	switch {
	case whole:
		return examineFrames(head, frames, shared)
	case unmoved:
		return errors.New("it is empty or gone"), nil
	}
	return nil, nil
}

// readWhole says whether there was as much left to read.
func readWhole(r io.Reader, into []byte) (bool, error) {
	_, err := io.ReadFull(r, into)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return false, nil
	}
	return err == nil, err
}

func examineFrames(log []byte, frames *bufio.Reader, shared sharedState) (lost, err error) {
	_, empty := frames.Peek(1)
	magic := binary.BigEndian.Uint32(log)
	var order binary.ByteOrder = binary.LittleEndian
	if magic&1 != 0 {
		order = binary.BigEndian
	}
	a, b := logSum(order, 0, 0, log[:24])
	if magic&^1 != 0x377f0682 || a != binary.BigEndian.Uint32(log[24:]) || b != binary.BigEndian.Uint32(log[28:]) {
		if empty != nil && shared.frames <= shared.moved {
			return nil, nil
		}
		return errors.New("its head is damaged"), nil // it is on the disk before the first frame is written
	}
	salt := log[16:24]
	frame := make([]byte, frameHeaderSize+int(binary.BigEndian.Uint32(log[8:])))
	whole, commits, run := -1, 0, 0 // frames before the first bad one; commits in one run of good ones behind it
	n := 0
	for ; ; n++ {
		if more, err := readWhole(frames, frame); err != nil {
			return nil, err
		} else if !more {
			break
		}
		head, page := frame[:frameHeaderSize], frame[frameHeaderSize:]
		// The sum goes on from the one before as it is written, so that frames behind a bad one can be told too.
		a, b = logSum(order, a, b, head[:8])
		a, b = logSum(order, a, b, page)
		writtenA, writtenB := binary.BigEndian.Uint32(head[16:]), binary.BigEndian.Uint32(head[20:])
		good := bytes.Equal(head[8:16], salt) && a == writtenA && b == writtenB
		switch {
		case !good && whole < 0:
			whole = n
		case !good:
			commits = max(commits, run)
			run = 0 // what follows may be left from before another power cut
		case whole >= 0 && binary.BigEndian.Uint32(head[4:]) != 0:
			run++
		}
		a, b = writtenA, writtenB
	}
	if whole < 0 {
		whole = n
	}
	commits = max(commits, run)
	switch {
	case shared.frames > shared.moved && bytes.Equal(shared.salt[:], salt) && whole < int(shared.frames):
		return fmt.Errorf("%d of %d frames are whole", whole, shared.frames), nil
	case commits > 1:
		return fmt.Errorf("frame %d is damaged and transactions follow it", whole+1), nil
	}
	return nil, nil
}

// logSum is SQLite's checksum of its log, of a multiple of 8 bytes.
func logSum(order binary.ByteOrder, a, b uint32, data []byte) (uint32, uint32) {
	for ; len(data) >= 8; data = data[8:] {
		a += order.Uint32(data) + b
		b += order.Uint32(data[4:]) + a
	}
	return a, b
}
