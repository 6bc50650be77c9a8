package secret

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/joystream-ai/joy/internal/fault"
)

// Kinds of a reference, which are also how one begins.
const (
	KindEnv     = "env"     // env:NAME, a variable of joy's own environment
	KindFile    = "file"    // file:/path, a file that is the user's alone
	KindKeyring = "keyring" // keyring:service/name, the desktop's keyring
	KindAge     = "age"     // age:/path#key, one value of an encrypted file; without #key the whole of it
	KindCmd     = "cmd"     // cmd:["program","argument"], what a program prints
	KindOp      = "op"      // op://vault/item/field, read by the program op
)

// Kinds in the order of the documentation.
var Kinds = []string{KindEnv, KindFile, KindKeyring, KindAge, KindCmd, KindOp}

// Ref says where a value is. It holds no value and may be shown.
type Ref struct {
	Kind string
	Argv []string // of cmd
	Path string   // of file and age: absolute. Of op: the whole reference
	Name string   // of env the variable, of keyring the name, of age the key or ""
	Of   string   // of keyring: the service
}

var variableForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

// maxRef bounds a reference, in bytes.
const maxRef = 4096

// ParseRef reads a reference. Errors are of kind Input; they quote the reference's kind at most, since a person may have
// put the value itself in its place.
func ParseRef(text string) (Ref, error) {
	kind, rest, ok := strings.Cut(text, ":")
	bad := func(want string) (Ref, error) {
		return Ref{}, fault.New(fault.Input, "this is not a reference to a secret").WithHint("%s", want)
	}
	if !ok || len(text) > maxRef || rest == "" || strings.ContainsRune(text, 0) {
		return bad("write one of env:NAME, file:/path, keyring:service/name, age:/path#key, cmd:[\"program\"], op://vault/item/field")
	}
	r := Ref{Kind: kind}
	switch kind {
	case KindEnv:
		if r.Name = rest; !variableForm.MatchString(rest) {
			return bad("write env: and the name of a variable")
		}
	case KindFile:
		if r.Path = rest; !filepath.IsAbs(rest) {
			return bad("write file: and an absolute path")
		}
	case KindKeyring:
		if r.Of, r.Name, ok = strings.Cut(rest, "/"); !ok || r.Of == "" || r.Name == "" {
			return bad("write keyring:service/name")
		}
	case KindAge:
		if r.Path, r.Name, ok = strings.Cut(rest, "#"); !filepath.IsAbs(r.Path) || ok && r.Name == "" {
			return bad("write age:/path#key, with an absolute path")
		}
	case KindCmd:
		return parseCmd(r, rest, bad)
	case KindOp:
		if r.Path = text; !strings.HasPrefix(rest, "//") || strings.Count(rest, "/") < 4 {
			return bad("write op://vault/item/field")
		}
	default:
		return bad("it begins with one of " + strings.Join(Kinds, ": ") + ":")
	}
	return r, nil
}

// parseCmd reads an argument list. A program that is named by a relative path would be another one in every directory,
// and in a checkout it would be the checkout's.
func parseCmd(r Ref, rest string, bad func(string) (Ref, error)) (Ref, error) {
	if err := json.Unmarshal([]byte(rest), &r.Argv); err != nil || len(r.Argv) == 0 || r.Argv[0] == "" {
		return bad(`write the argument list as JSON: cmd:["vault","read","-field=token","secret/joy"]`)
	}
	if strings.ContainsAny(r.Argv[0], `/\`) && !filepath.IsAbs(r.Argv[0]) {
		return bad("name the program by its absolute path, or by a name to be found on PATH")
	}
	return r, nil
}

// String is the reference as ParseRef reads it.
func (r Ref) String() string {
	switch r.Kind {
	case KindEnv:
		return "env:" + r.Name
	case KindFile:
		return "file:" + r.Path
	case KindKeyring:
		return "keyring:" + r.Of + "/" + r.Name
	case KindAge:
		if r.Name == "" {
			return "age:" + r.Path
		}
		return "age:" + r.Path + "#" + r.Name
	case KindCmd:
		argv, _ := json.Marshal(r.Argv) // strings alone cannot fail
		return "cmd:" + string(argv)
	}
	return r.Path
}
