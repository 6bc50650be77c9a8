// Package operator is the word of who owns this machine on what any plan may do here.
//
// The one rule: a policy only ever refuses. Nothing is widened, nothing is filled in, and where it cannot be read nothing
// runs. Several policies are all satisfied or the plan is refused, so that a user's own can tighten the machine's and never
// loosen it; a project has no policy of this kind.
package operator

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"runtime"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/signature"
)

// Code is the code of every error of this package.
const Code = "JOY-OPERATOR"

// UserFile is the name of the user's own policy, in the directory of the user's configuration.
const UserFile = "policy.yaml"

// MaxBytes bounds a policy.
const MaxBytes = 1 << 20

// Policy is one file. A nil list, a nil pointer and a zero bound nothing.
type Policy struct {
	File   string // as opened
	Digest string // sha256:… of its bytes

	Isolation, Start, Approvals string
	Providers, Egress           []string
	Runtimes                    []string // see AllowGVisor
	Connections                 []Connection
	Unconfined                  *bool
	Models                      []Model
	Spend                       Spend
	Limits                      Limits
	Signatures                  []signature.PublicKey

	at map[string]pos // of each key that is there: "limits.cpus"
}

// Connection is a pattern: of a URL or of a command.
type Connection struct {
	URL     string
	Command []string
}

// Model is a pattern of a model provider and its models. BaseURL "": the provider's own address.
type Model struct{ Provider, Name, BaseURL string }

// Spend bounds one model step.
type Spend struct {
	MaxCost             float64 // US dollars
	MaxTokens, MaxTurns int
}

// Limits bound what a plan may use.
type Limits struct {
	CPUs              int
	Memory, Disk      policy.Size
	Timeout           policy.Duration
	MaxFile, MaxTotal policy.Size
	MaxFiles          int
}

// Policies are all that are in force.
type Policies []*Policy

// DefaultPath is where the policy of this machine is.
func DefaultPath() string {
	if runtime.GOOS == "windows" {
		return `C:\ProgramData\joy\policy.yaml`
	}
	return "/etc/joy/policy.yaml"
}

// Load reads the policies at those paths; one that is missing bounds nothing. Errors are *fault.Error: of kind Input with
// their place when a file says what joy does not understand, and of kind Policy when it cannot be read or relied on.
func Load(paths ...string) (Policies, error) {
	var out Policies
	for _, path := range paths {
		data, err := read(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			e := fault.Wrap(fault.Policy, err, "the operator's policy cannot be relied on, so nothing is allowed").At(path, 0, 0)
			e.Code = Code
			return nil, e.WithHint("mend the file or its rights, or ask who owns this machine")
		}
		p, err := Parse(data, path)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func read(path string) ([]byte, error) {
	f, err := ordinary.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := checkRights(info); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err == nil && len(data) > MaxBytes {
		err = errors.New("it is larger than 1 MiB")
	}
	return data, err
}

// Digest names what was in force: the file's own digest when there is one policy, else a digest over all of theirs; "" when
// there is none.
func (ps Policies) Digest() string {
	switch len(ps) {
	case 0:
		return ""
	case 1:
		return ps[0].Digest
	}
	var b bytes.Buffer
	for _, p := range ps {
		b.WriteString(p.Digest + "\n")
	}
	return digest.Bytes(b.Bytes())
}
