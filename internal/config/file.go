package config

import (
	"bytes"
	"errors"
	"io"
	"io/fs"

	"gopkg.in/yaml.v3"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
)

// maxFile bounds the user's configuration, in bytes.
const maxFile = 1 << 20

// readFile reads the user's configuration: a flat map of known keys to text. A missing file says nothing.
func readFile(path string) (map[string]string, error) {
	data, err := ordinary.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		e := fault.Wrap(fault.Input, err, "read the user configuration").At(path, 0, 0)
		e.Code = "JOY-CONFIG"
		return nil, e
	}
	return parseFile(path, data)
}

func parseFile(path string, data []byte) (map[string]string, error) {
	var doc yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, bad(path, nil, "%v", err)
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, bad(path, root, "want a mapping of settings")
	}
	values := map[string]string{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if !known(key.Value) {
			return nil, bad(path, key, "unknown setting %q", key.Value)
		}
		if _, twice := values[key.Value]; twice {
			return nil, bad(path, key, "%s is set twice", key.Value)
		}
		if value.Kind != yaml.ScalarNode {
			return nil, bad(path, value, "%s takes one value", key.Value)
		}
		values[key.Value] = value.Value
	}
	return values, nil
}

func known(key string) bool {
	for _, s := range settings {
		if s.key == key {
			return true
		}
	}
	return false
}

func bad(path string, at *yaml.Node, format string, args ...any) error {
	e := fault.New(fault.Input, format, args...)
	e.Code, e.File = "JOY-CONFIG", path
	if at != nil {
		e.Line, e.Col = at.Line, at.Column
	}
	return e
}
