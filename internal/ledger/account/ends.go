package account

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/joystream-ai/joy/internal/ledger/verify"
)

// Ends reads the first and the last whole line of a ledger, and nothing between, so that it is quick in a large one.
// Each is checked by itself. A torn tail is passed over; a file without a whole line is an error.
func Ends(f io.ReadSeeker) (first, last verify.Entry, err error) {
	if first, err = firstEntry(f); err != nil {
		return first, last, err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return first, last, err
	}
	for chunk := int64(64 << 10); ; chunk *= 8 {
		chunk = min(chunk, size)
		b := make([]byte, chunk)
		if _, err := f.Seek(size-chunk, io.SeekStart); err != nil {
			return first, last, err
		}
		if _, err := io.ReadFull(f, b); err != nil {
			return first, last, err
		}
		end := bytes.LastIndexByte(b, '\n')
		start := bytes.LastIndexByte(b[:max(end, 0)], '\n') + 1
		if end >= 0 && (start > 0 || chunk == size) {
			last, err = firstEntry(bytes.NewReader(b[start : end+1]))
			return first, last, err
		}
		if chunk == size || chunk > 2*verify.MaxLine {
			return first, last, fmt.Errorf("its last line is longer than %d bytes", verify.MaxLine)
		}
	}
}

var errFound = errors.New("found")

func firstEntry(r io.Reader) (e verify.Entry, err error) {
	err = verify.Read(r, func(first verify.Entry) error {
		e = first
		e.Raw = nil
		return errFound
	})
	switch {
	case errors.Is(err, errFound):
		return e, nil
	case err == nil:
		return e, errors.New("it is empty")
	}
	return e, err
}
