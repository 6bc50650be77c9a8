package guest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// maxArguments bounds what a command line may send, in bytes: the broker takes no more in one request.
const maxArguments = 8 << 20

// callLine is the command line of a call.
type callLine struct {
	action string
	json   string   // of --json; "" when it was not given
	pairs  []string // KEY=VALUE and its like
	raw    bool
}

func parseCall(args []string) (line callLine, err error) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		value, joined := strings.CutPrefix(arg, "--json=")
		switch {
		case arg == "--raw":
			line.raw = true
		case arg == "--json" || joined:
			if line.json != "" {
				return line, misuse("--json is there twice")
			}
			if !joined {
				if i++; i == len(args) {
					return line, misuse("--json needs a value: an object, @FILE or -")
				}
				value = args[i]
			}
			if line.json = value; value == "" {
				return line, misuse("--json is empty; without arguments leave it out")
			}
		case strings.HasPrefix(arg, "-"):
			return line, misuse("call takes no %q; joy-guest help", arg)
		case line.action == "":
			line.action = arg
		default:
			line.pairs = append(line.pairs, arg)
		}
	}
	switch {
	case line.action == "":
		return line, misuse("which action? joy-guest tools lists them")
	case line.json != "" && len(line.pairs) > 0:
		return line, misuse("arguments come from --json or as KEY=VALUE, not both")
	}
	return line, nil
}

// body is what the broker gets. What was given as JSON goes there byte for byte.
func (l callLine) body(stdin io.Reader) ([]byte, error) {
	arguments, err := l.arguments(stdin)
	if err != nil {
		return nil, err
	}
	action, err := json.Marshal(l.action)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `{"action":%s,"arguments":%s}`, action, arguments), nil
}

func (l callLine) arguments(stdin io.Reader) ([]byte, error) {
	if l.json == "" {
		return pairs(l.pairs)
	}
	text, err := []byte(l.json), error(nil)
	if l.json == "-" {
		text, err = readCapped(stdin, "standard input")
	} else if path, ok := strings.CutPrefix(l.json, "@"); ok {
		text, err = readArgument(path)
	}
	if err != nil {
		return nil, err
	}
	if !json.Valid(text) || !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return nil, misuse("the arguments are not a JSON object")
	}
	return text, nil
}

// pairs makes an object of KEY=VALUE, KEY=@FILE and KEY:=JSON, in their order.
func pairs(list []string) ([]byte, error) {
	var out bytes.Buffer
	seen := map[string]bool{}
	out.WriteByte('{')
	for i, pair := range list {
		key, value, err := onePair(pair)
		if err != nil {
			return nil, err
		}
		if seen[key] {
			return nil, misuse("the argument %q is there twice", key)
		}
		seen[key] = true
		name, err := json.Marshal(key)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(name)
		out.WriteByte(':')
		out.Write(value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

func onePair(pair string) (key string, value []byte, err error) {
	key, text, found := strings.Cut(pair, "=")
	name, typed := strings.CutSuffix(key, ":")
	switch {
	case !found || name == "":
		return "", nil, misuse("%q is no argument: KEY=VALUE, KEY=@FILE or KEY:=JSON", pair)
	case typed && !json.Valid([]byte(text)):
		return "", nil, misuse("the argument %q is not JSON: %s", name, text)
	case typed:
		return name, []byte(text), nil
	}
	if path, ok := strings.CutPrefix(text, "@"); ok {
		content, err := readArgument(path)
		if err != nil {
			return "", nil, err
		}
		text = string(content)
	}
	if !utf8.ValidString(text) {
		return "", nil, misuse("the argument %q is not text", key)
	}
	value, err = json.Marshal(text)
	return key, value, err
}

func readArgument(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, misuse("%v", err)
	}
	defer f.Close()
	return readCapped(f, path)
}

func readCapped(r io.Reader, name string) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxArguments+1))
	switch {
	case err != nil:
		return nil, misuse("reading %s: %v", name, err)
	case len(b) > maxArguments:
		return nil, misuse("%s has more than %d bytes", name, maxArguments)
	}
	return b, nil
}
