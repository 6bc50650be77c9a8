package secret

import (
	"context"
	"errors"
	"path/filepath"
	"unicode/utf8"

	"github.com/joystream-ai/joy/internal/fault"
)

// Keep stores a value where only the user gets at it: in the keyring when it answers, or else in an age file of joy's own. why
// is the keyring's answer in the second case, for a person to be told. There is no third place: never a file in clear text.
func Keep(ctx context.Context, configDir, name string, value Value) (ref Ref, why error, err error) {
	cleaned, err := clean(value.Bytes())
	if err == nil && !utf8.Valid(cleaned) {
		err = errors.New("it is no text; keep it in a file of your own and give --from file:/path")
	}
	if err == nil {
		err = NewSet().Add(name, cleaned) // the scrubber must be able to know it
	}
	if err != nil {
		return Ref{}, nil, keepError(fault.Input, err, name)
	}
	value = NewValue(cleaned)
	if why = writeKeyring(ctx, name, value); why == nil {
		return Ref{Kind: KindKeyring, Of: Service, Name: name}, nil, nil
	}
	if err := changeAge(configDir, func(m map[string]string) { m[name] = string(value.Bytes()) }); err != nil {
		return Ref{}, why, keepError(fault.Platform, err, name)
	}
	return Ref{Kind: KindAge, Path: filepath.Join(configDir, ageFile), Name: name}, why, nil
}

// Forget removes a value that Keep stored. A reference to another place is left as it is, and kept is true.
func Forget(ctx context.Context, configDir string, e Entry) (kept bool, err error) {
	switch {
	case e.Ref.Kind == KindKeyring && e.Ref.Of == Service:
		err = removeKeyring(ctx, e.Ref.Name)
	case e.Ref.Kind == KindAge && e.Ref.Path == filepath.Join(configDir, ageFile) && e.Ref.Name != "":
		err = changeAge(configDir, func(m map[string]string) { delete(m, e.Ref.Name) })
	default:
		return true, nil
	}
	if err != nil {
		return false, fault.Wrap(fault.Platform, err, "remove the secret %s from %s", e.Name, e.Ref)
	}
	return false, nil
}

func keepError(kind fault.Kind, err error, name string) error {
	e := fault.Wrap(kind, err, "store the secret %s", name)
	e.Code = CodeMissing
	return e
}
