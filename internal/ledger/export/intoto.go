package export

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger/verify"
)

// inToto is a statement with SLSA provenance about a run's artifacts, signed with the key that sealed the run. Whoever
// checks provenance looks at its subjects and not at how the run ended, so only a run that succeeded gets one.
var inToto = Format{
	Name: "in-toto", About: "a signed in-toto statement with SLSA provenance about the artifacts", Whole: true, JSON: true,
	Open: func(w io.Writer, run Run) (Writer, error) {
		return &stater{w: w, run: run, ledger: sha256.New(), deps: planned(run), commands: map[string]int{}, nth: map[int64]int{}}, nil
	},
}

// stater collects a statement. It keeps what the statement will say, and the numbers of commands under way.
type stater struct {
	w      io.Writer
	run    Run
	ledger hash.Hash // of the file
	st     statement
	deps   *dependencies

	outcome  string
	commands map[string]int // of a step, so far
	nth      map[int64]int  // seq of command.started to its number in its step, which names its logs
}

func (s *stater) Add(e verify.Entry) error {
	s.ledger.Write(append(e.Raw[:len(e.Raw):len(e.Raw)], '\n'))
	p := &s.st.Predicate
	switch e.Type {
	case "run.started":
		p.Definition.External = external(e)
		p.Definition.Internal = pick(e.Data, "provider", "operator")
		p.Details.Metadata.Started = stamp(e.Time)
		p.Details.Builder = s.builder(e)
	case "run.finished":
		s.outcome = e.String("outcome")
		p.Details.Metadata.Finished = stamp(e.Time)
	case "sandbox.created":
		for key, v := range pick(e.Data, "isolation", "accelerator", "confinement") {
			p.Definition.Internal[key] = v
		}
	case "command.started":
		s.commands[e.Step]++
		s.nth[e.Seq] = s.commands[e.Step]
	case "command.finished":
		s.logs(e)
	case "artifact.stored":
		s.st.Subject = append(s.st.Subject, resource{Name: e.Step + "/" + e.String("name"), Digest: named(e.String("sha256"), "sha256")})
	}
	s.deps.ran(e)
	return nil
}

func (s *stater) Close() error {
	if s.outcome != "succeeded" {
		return fault.New(fault.Agent, "the run did not succeed (outcome: %s): joy attests only what a good run made", s.outcome)
	}
	if len(s.st.Subject) == 0 {
		return fault.New(fault.Input, "the run stored no artifact, and a statement needs something that it is about").
			WithHint("what a step leaves in /workspace/out is an artifact")
	}
	key, err := s.run.Key()
	if err != nil {
		return err
	}
	s.finish()
	payload, err := json.Marshal(s.st)
	if err != nil {
		return fmt.Errorf("write the statement: %w", err)
	}
	env, err := enclose(payload, key)
	if err != nil {
		return err
	}
	out, err := json.Marshal(env)
	if err != nil {
		return fmt.Errorf("write the statement: %w", err)
	}
	_, err = s.w.Write(append(out, '\n'))
	return err
}

// finish fills in what is known only at the end.
func (s *stater) finish() {
	rep := s.run.Report
	s.st.Type, s.st.PredicateType = statementType, slsaType
	d := &s.st.Predicate.Definition
	d.BuildType = BuildType
	if s.run.Plan != nil {
		d.Internal["policy"] = s.run.Plan.Policy
	}
	d.Dependencies = s.deps.list
	r := &s.st.Predicate.Details
	r.Metadata.Invocation = rep.Run
	whole := resource{
		Name:        "ledger.jsonl",
		Digest:      map[string]string{"sha256": hex.EncodeToString(s.ledger.Sum(nil))},
		Annotations: map[string]any{"entries": rep.Entries, "head": rep.Head, "root": "sha256:" + hex.EncodeToString(rep.Root[:]), "key": rep.SealKey},
	}
	seal := resource{Name: "seal.note", Digest: named(digest.Bytes(s.run.Seal), "sha256")}
	r.Byproducts = append([]resource{whole, seal}, r.Byproducts...)
}

// logs are what a command printed, as the run's directory keeps it.
func (s *stater) logs(e verify.Entry) {
	of, _ := e.Int("of")
	n, ok := s.nth[of]
	delete(s.nth, of)
	for _, stream := range []string{"stdout", "stderr"} {
		m, _ := e.Data[stream].(map[string]any)
		sum, _ := m["sha256"].(string)
		if size, _ := m["bytes"].(int64); !ok || size == 0 || !digest.Valid(sum) {
			continue
		}
		r := &s.st.Predicate.Details
		r.Byproducts = append(r.Byproducts, resource{
			Name: fmt.Sprintf("logs/%s.%d.%s", e.Step, n, stream), Digest: named(sum, "sha256"), Annotations: pick(m, "truncated"),
		})
	}
}

// builder names the joy that ran. The ledger has its program by digest; its version is known only when it is the one
// that exports.
func (s *stater) builder(e verify.Entry) builder {
	b := builder{ID: BuilderID}
	for _, name := range []string{"joy", "guest"} {
		if sum := e.String(name); digest.Valid(sum) {
			b.Dependencies = append(b.Dependencies, resource{Name: map[string]string{"joy": "joy", "guest": "joy-guest"}[name], Digest: named(sum, "sha256")})
		}
	}
	if sum := e.String("joy"); digest.Valid(sum) && sum == s.run.JoyDigest {
		b.Version = map[string]string{"joy": s.run.Joy}
	}
	return b
}

// external are what whoever started the run chose. Who that was stays in the ledger: a statement is for others.
func external(e verify.Entry) map[string]any {
	out := pick(e.Data, "agent", "workspace", "trigger")
	if in, ok := e.Data["input"].(map[string]any); ok {
		out["input"] = given(in)
	}
	if files, ok := e.Data["files"].(map[string]any); ok {
		list := map[string]any{}
		for name, v := range files {
			m, _ := v.(map[string]any)
			list[name] = given(m)
		}
		out["files"] = list
	}
	return out
}

// given is a body or a file that a run was given, by digest.
func given(m map[string]any) map[string]any {
	out := pick(m, "name", "bytes")
	if sum, ok := m["sha256"].(string); ok {
		out["digest"] = named(sum, "sha256")
	}
	return out
}

// pick is those of the named members that there are.
func pick(data map[string]any, names ...string) map[string]any {
	out := map[string]any{}
	for _, name := range names {
		if v, ok := data[name]; ok {
			out[name] = v
		}
	}
	return out
}

// named is a set of one digest. alg says what "sha256:…" is over; a digest of another kind (that of a secret is keyed)
// keeps the name that it has.
func named(sum, alg string) map[string]string {
	kind, value, ok := strings.Cut(sum, ":")
	switch {
	case !ok:
		return nil
	case kind != "sha256":
		alg = kind
	case !digest.Valid(sum):
		return nil
	}
	return map[string]string{alg: value}
}
