package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
)

// Code is the code of every error of Decode.
const Code = "JOY-LOCK"

// MaxBytes is the largest lock that Decode reads.
const MaxBytes = 64 << 20

const rebuild = "joy build"

// Decode reads a joy.lock; file names it in errors. It takes only what Encode writes, byte for byte, and only what a
// build could have made: a digest that fits is no proof of that, for anyone can compute one. So a lock edited by hand
// can neither hide a second reading nor lead a run to a file outside the project.
//
// Errors are *fault.Error. What is not a lock at all, or unsafe, is of kind Input; what is a lock that is out of date
// or was changed by hand is of kind Drift. Both say the line where it is known.
func Decode(data []byte, file string) (*Plan, error) {
	if err := isLock(data, file); err != nil {
		return nil, err
	}
	var p Plan
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return nil, decodeFault(data, file, err)
	}
	p, err := normal(&p) // raw JSON loses the indentation of the file
	if err != nil {
		return nil, lockFault(fault.Input, file, 0, "%v", err)
	}
	again, err := Encode(&p)
	if err != nil {
		return nil, lockFault(fault.Input, file, 0, "%v", err)
	}
	if line := firstDifference(data, again, p.Digest); line > 0 {
		return nil, lockFault(fault.Drift, file, line, "not what joy writes here: the lock was edited or merged").WithHint(rebuild)
	}
	if want, err := Digest(&p); err != nil || want != p.Digest {
		return nil, lockFault(fault.Drift, file, lineOf(data, "plan_digest"),
			"plan_digest does not fit the rest: the lock was edited or merged").WithHint(rebuild)
	}
	if err := validate(&p, data, file); err != nil {
		return nil, err
	}
	return &p, nil
}

// isLock judges the text before its meaning.
func isLock(data []byte, file string) error {
	if len(data) > MaxBytes {
		return lockFault(fault.Input, file, 0, "the lock has %d bytes; joy reads at most %d", len(data), MaxBytes)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return lockFault(fault.Input, file, 0, "the lock is empty").WithHint(rebuild)
	}
	for i, line := range bytes.Split(data, []byte("\n")) {
		for _, mark := range []string{"<<<<<<< ", ">>>>>>> ", "||||||| ", "======="} {
			if bytes.HasPrefix(line, []byte(mark)) {
				return lockFault(fault.Input, file, i+1, "%s has merge conflict markers", base(file)).
					WithHint("take either side, then: joy build")
			}
		}
	}
	if bytes.Contains(data, []byte("\r\n")) {
		return lockFault(fault.Input, file, 1, "the lock has CRLF line ends").
			WithHint("add the line “joy.lock text eol=lf” to .gitattributes, then: joy build")
	}
	if err := checkKeys(data, file); err != nil {
		return err
	}
	return checkVersion(data, file)
}

// checkKeys refuses malformed JSON and a key that is there twice, which encoding/json would let pass.
func checkKeys(data []byte, file string) error {
	_, err := digest.CanonicalText(data) // a definition may hold any number; what may not is refused with its plan
	if err == nil {
		return nil
	}
	var f *fault.Error
	if errors.As(err, &f) {
		f.Code = Code
		return f.At(file, f.Line, f.Col).WithHint(rebuild)
	}
	return lockFault(fault.Input, file, 0, "%v", err)
}

func checkVersion(data []byte, file string) error {
	var head map[string]json.RawMessage
	if err := json.Unmarshal(data, &head); err != nil {
		return lockFault(fault.Input, file, 1, "the lock is not a JSON object").WithHint(rebuild)
	}
	raw, ok := head["lock_version"]
	var version int
	switch {
	case !ok || json.Unmarshal(raw, &version) != nil:
		return lockFault(fault.Input, file, 1, "this is not a joy.lock: lock_version is missing or no number").WithHint(rebuild)
	case version > LockVersion:
		return lockFault(fault.Input, file, lineOf(data, "lock_version"),
			"a newer joy wrote this lock (lock_version %d, this joy reads %d)", version, LockVersion).
			WithHint("upgrade joy, or freeze again with this one: joy build")
	case version < LockVersion:
		return lockFault(fault.Drift, file, lineOf(data, "lock_version"),
			"an older joy wrote this lock (lock_version %d, this joy reads %d)", version, LockVersion).WithHint(rebuild)
	}
	return nil
}

// decodeFault places an error of encoding/json.
func decodeFault(data []byte, file string, err error) error {
	msg := strings.TrimPrefix(err.Error(), "json: ")
	if key, ok := strings.CutPrefix(msg, "unknown field "); ok {
		key = strings.Trim(key, `"`)
		return lockFault(fault.Drift, file, lineOf(data, key), "unknown key %q", key).WithHint(rebuild)
	}
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return lockFault(fault.Input, file, lineAt(data, int(wrong.Offset)), "%s cannot be a %s", wrong.Field, wrong.Value).WithHint(rebuild)
	}
	return lockFault(fault.Input, file, 0, "%s", msg).WithHint(rebuild)
}

// firstDifference is the first line in which got is not want, or 0. The line of plan_digest is left to a message of
// its own.
func firstDifference(got, want []byte, claimed string) int {
	a, b := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range a {
		if i < len(b) && bytes.Equal(a[i], b[i]) {
			continue
		}
		if string(a[i]) == `  "plan_digest": "`+claimed+`",` {
			continue
		}
		return i + 1
	}
	if len(b) > len(a) {
		return len(a)
	}
	return 0
}

// lineOf is the first line that has the key, or 0.
func lineOf(data []byte, key string) int {
	if i := bytes.Index(data, []byte(`"`+key+`":`)); i >= 0 {
		return lineAt(data, i)
	}
	return 0
}

func lineAt(data []byte, offset int) int {
	return 1 + bytes.Count(data[:min(max(offset, 0), len(data))], []byte("\n"))
}

func lockFault(kind fault.Kind, file string, line int, format string, args ...any) *fault.Error {
	e := fault.New(kind, format, args...).At(file, line, 0)
	e.Code = Code
	return e
}

func base(file string) string { return file[strings.LastIndexAny(file, `/\`)+1:] }
