package secret

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
)

// resolveLimit bounds one look for a value: a program may ask a person for a finger.
const resolveLimit = 30 * time.Second

// ResolverConfig is what a Resolver works with.
type ResolverConfig struct {
	ConfigDir string                          // the user's configuration, absolute
	Home      string                          // the user's, absolute; "": there is none
	LookupEnv func(key string) (string, bool) // joy's environment
	Set       *Set                            // gets every value before it is given out; nil: one of the resolver's own
}

// Resolver turns names into values, late. It reads nothing before the first Resolve: neither the user's list nor any
// value. It is safe for concurrent use.
type Resolver struct {
	cfg   ResolverConfig
	store func() (*Store, error)

	mu   sync.Mutex
	held map[string]*held
}

// held is a value in use, kept until the resolver is dropped: a run asks each source once.
type held struct {
	mu    sync.Mutex
	found bool
	value Value
	bound Origin // zero: a variable of JOY_SECRET_, which is for whatever was allowed to have it
}

// NewResolver makes a resolver for one run.
func NewResolver(cfg ResolverConfig) *Resolver {
	if cfg.Set == nil {
		cfg.Set = NewSet()
	}
	r := &Resolver{cfg: cfg, held: map[string]*held{}}
	r.store = sync.OnceValues(func() (*Store, error) { return OpenStore(cfg.ConfigDir) })
	return r
}

// Variable is the variable that stands in for a secret where there is nobody to set it: JOY_SECRET_ and the name in
// upper case, with _ for -.
func Variable(name string) string {
	return "JOY_SECRET_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// Resolve gives the value of a secret to an origin, registered with the Set before it is returned. Whoever calls it has
// held before that the user trusts the project. Errors are *fault.Error: of kind Consent when there is no such secret or its
// value cannot be had, of kind Policy when it was stored for another origin. None holds a value, or what a program said.
func (r *Resolver) Resolve(ctx context.Context, name string, origin Origin) (Value, error) {
	if !SecretName.MatchString(name) {
		return Value{}, fault.New(fault.Input, "%.64q is no name of a secret", name)
	}
	r.mu.Lock()
	h := r.held[name]
	if h == nil {
		h = &held{}
		r.held[name] = h
	}
	r.mu.Unlock()
	h.mu.Lock() // held while it is looked for: one source is asked once, others meanwhile
	defer h.mu.Unlock()
	if h.found {
		if !h.bound.IsZero() && !h.bound.Equal(origin) {
			return Value{}, wrongOrigin(name, h.bound, origin)
		}
		return h.value, nil
	}
	raw, bound, err := r.find(ctx, name, origin)
	if err != nil {
		return Value{}, err
	}
	if err := r.cfg.Set.Add(name, raw); err != nil {
		return Value{}, credential(err, name, origin, "use its value")
	}
	h.found, h.value, h.bound = true, NewValue(raw), bound
	return h.value, nil
}

// find looks in the order of precedence: the variable, then the user's list.
func (r *Resolver) find(ctx context.Context, name string, origin Origin) ([]byte, Origin, error) {
	if v, ok := r.cfg.LookupEnv(Variable(name)); ok && v != "" {
		value, err := clean([]byte(v))
		if err != nil {
			return nil, Origin{}, credential(err, name, origin, "read "+Variable(name))
		}
		return value, Origin{}, nil
	}
	s, err := r.store()
	if err != nil {
		return nil, Origin{}, err
	}
	e, ok := s.Find(name)
	if !ok {
		return nil, Origin{}, credential(nil, name, origin, "joy does not know it")
	}
	if !e.Origin.Equal(origin) {
		return nil, Origin{}, wrongOrigin(name, e.Origin, origin)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, resolveLimit, fmt.Errorf("no answer within %s", resolveLimit))
	defer cancel()
	raw, err := r.read(ctx, s, e)
	if err == nil {
		raw, err = clean(raw)
	}
	if err != nil {
		return nil, Origin{}, credential(err, name, origin, "read it from "+e.Ref.Kind+":")
	}
	return raw, e.Origin, nil
}

// read fetches what a reference points to.
func (r *Resolver) read(ctx context.Context, s *Store, e Entry) ([]byte, error) {
	switch e.Ref.Kind {
	case KindEnv:
		v, _ := r.cfg.LookupEnv(e.Ref.Name)
		if v == "" {
			return nil, fmt.Errorf("the variable %s is not set", e.Ref.Name)
		}
		return []byte(v), nil
	case KindFile:
		return readPrivate(e.Ref.Path, maxValue)
	case KindKeyring:
		return readKeyring(ctx, e.Ref.Of, e.Ref.Name)
	case KindAge:
		return r.readAge(s, e.Ref)
	case KindCmd:
		return r.readProgram(ctx, e.Ref.Argv, e.PassEnv)
	case KindOp:
		return r.readProgram(ctx, []string{"op", "read", "--no-newline", e.Ref.Path}, append(opVariables, e.PassEnv...))
	}
	return nil, errors.New("it is of a kind that joy does not know")
}

// clean takes white space off the ends, as files and programs leave it there, and refuses what no header or variable can
// carry.
func clean(raw []byte) ([]byte, error) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0:
		return nil, errors.New("it is empty")
	case len(raw) > maxValue:
		return nil, fmt.Errorf("it is larger than %d KiB", maxValue>>10)
	case bytes.IndexByte(raw, 0) >= 0:
		return nil, errors.New("it holds a NUL byte")
	}
	return bytes.Clone(raw), nil
}

// setting is the command by which a person lets a secret go to an origin.
func setting(name string, origin Origin) string {
	if origin.url != "" {
		return "joy secret set " + name + " --for " + origin.url
	}
	return "joy secret set " + name + " --connection NAME"
}

func credential(cause error, name string, origin Origin, what string) error {
	e := fault.New(fault.Consent, "the secret %s: %s", name, what)
	if cause != nil {
		e.Err = cause
	}
	e.Code = CodeMissing
	return e.WithHint("%s; in CI the variable %s", setting(name, origin), Variable(name))
}

func wrongOrigin(name string, stored, asked Origin) error {
	e := fault.New(fault.Policy, "the secret %s was stored for %s and goes nowhere else; %s asks for it", name, stored, asked)
	e.Code = CodeOrigin
	return e.WithHint("if it is meant to go there: %s", setting(name, asked))
}
