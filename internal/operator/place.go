package operator

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// lineOf is the line, 1-based, in which the value at path begins in a JSON document, or 0. An element of path is a key or
// an index.
func lineOf(data []byte, path ...string) int {
	dec := json.NewDecoder(bytes.NewReader(data))
	at := find(dec, path)
	if at < 0 || at > int64(len(data)) {
		return 0
	}
	return 1 + bytes.Count(data[:at], []byte("\n"))
}

func find(dec *json.Decoder, path []string) int64 {
	open, err := dec.Token()
	if err != nil {
		return -1
	}
	for i := 0; dec.More(); i++ {
		key := strconv.Itoa(i)
		if open == json.Delim('{') {
			t, err := dec.Token()
			if err != nil {
				return -1
			}
			key, _ = t.(string)
		} else if open != json.Delim('[') {
			return -1
		}
		if key == path[0] && len(path) > 1 {
			return find(dec, path[1:])
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return -1
		}
		if key == path[0] {
			return dec.InputOffset() - int64(len(value))
		}
	}
	return -1
}
