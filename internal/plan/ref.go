package plan

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Roots of a reference.
const (
	RootInputs    = "inputs"    // ${{ inputs.a.b }}
	RootOutput    = "output"    // ${{ steps.ID.output.a[0] }}
	RootArtifacts = "artifacts" // ${{ steps.ID.artifacts['name'] }}
)

// Ref is one reference. Step is empty for inputs; Artifact is the name for artifacts, whose Path is empty.
type Ref struct {
	Root     string
	Step     string
	Artifact string
	Path     []Elem
	Offset   int // of "${{" in the string, in bytes
}

// Elem is one step of a path: a key of an object, or an index of a list.
type Elem struct {
	Key   string
	Index int // used when List
	List  bool
}

// RefError is a reference that cannot be read. Offset is where in the string, in bytes.
type RefError struct {
	Offset int
	Msg    string
}

func (e *RefError) Error() string { return e.Msg }

// part of a string: literal text, or a reference when ref is set.
type part struct {
	text string
	ref  *Ref
}

// String is the reference without its braces, in its one spelling.
func (r Ref) String() string {
	switch r.Root {
	case RootInputs:
		return RootInputs + pathText(r.Path)
	case RootArtifacts:
		return fmt.Sprintf("steps.%s.artifacts['%s']", r.Step, r.Artifact)
	}
	return "steps." + r.Step + ".output" + pathText(r.Path)
}

func pathText(path []Elem) string {
	var b strings.Builder
	for _, e := range path {
		switch {
		case e.List:
			fmt.Fprintf(&b, "[%d]", e.Index)
		case identRule.MatchString(e.Key):
			b.WriteString("." + e.Key)
		default:
			b.WriteString("['" + e.Key + "']")
		}
	}
	return b.String()
}

var (
	identRule = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)
	identHead = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*`)
	idHead    = regexp.MustCompile(`^[a-z0-9-]{1,64}`)
	indexHead = regexp.MustCompile(`^\[(0|[1-9][0-9]{0,5})\]`)
	keyHead   = regexp.MustCompile(`^\[(?:'([^']{1,255})'|"([^"]{1,255})")\]`)
)

const maxPath = 32 // elements of one reference

// Refs lists the references in s, in order. The error is a *RefError.
func Refs(s string) ([]Ref, error) {
	parts, err := split(s)
	if err != nil {
		return nil, err
	}
	var out []Ref
	for _, p := range parts {
		if p.ref != nil {
			out = append(out, *p.ref)
		}
	}
	return out, nil
}

// split cuts s into literal text and references; "$${{" is the text "${{".
func split(s string) ([]part, error) {
	var out []part
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			out = append(out, part{text: literal.String()})
			literal.Reset()
		}
	}
	for at := 0; at < len(s); {
		i := strings.Index(s[at:], "${{")
		if i < 0 {
			literal.WriteString(s[at:])
			break
		}
		i += at
		if i > at && s[i-1] == '$' {
			literal.WriteString(s[at:i-1] + "${{")
			at = i + len("${{")
			continue
		}
		literal.WriteString(s[at:i])
		flush()
		p := refParser{s: s, at: i + len("${{")}
		ref, err := p.reference()
		if err != nil {
			return nil, err
		}
		ref.Offset = i
		out = append(out, part{ref: &ref})
		at = p.at
	}
	flush()
	return out, nil
}

// refParser reads one reference from at on, to behind its "}}".
type refParser struct {
	s  string
	at int
}

func (p *refParser) fail(format string, args ...any) error {
	return &RefError{Offset: p.at, Msg: fmt.Sprintf(format, args...)}
}

func (p *refParser) take(token string) bool {
	if !strings.HasPrefix(p.s[p.at:], token) {
		return false
	}
	p.at += len(token)
	return true
}

func (p *refParser) match(rule *regexp.Regexp) []string {
	m := rule.FindStringSubmatch(p.s[p.at:])
	if m != nil {
		p.at += len(m[0])
	}
	return m
}

func (p *refParser) spaces() {
	for p.take(" ") {
	}
}

const refForms = "a reference is inputs.NAME, steps.ID.output or steps.ID.artifacts['NAME']"

func (p *refParser) reference() (Ref, error) {
	p.spaces()
	var r Ref
	var err error
	switch start := p.at; {
	case p.take(RootInputs):
		r.Root = RootInputs
		r.Path, err = p.path()
	case p.take("steps."):
		err = p.step(&r)
	default:
		p.at = start
		err = p.fail("%s", refForms)
	}
	if err != nil {
		return r, err
	}
	p.spaces()
	if !p.take("}}") {
		return r, p.fail("expected }} to end the reference")
	}
	return r, nil
}

func (p *refParser) step(r *Ref) error {
	id := p.match(idHead)
	if id == nil {
		return p.fail("expected the id of a step")
	}
	r.Step = id[0]
	var err error
	switch {
	case p.take("." + RootOutput):
		r.Root = RootOutput
		r.Path, err = p.path()
	case p.take("." + RootArtifacts):
		r.Root = RootArtifacts
		key := p.match(keyHead)
		if key == nil {
			return p.fail("expected the name of an artifact, as in artifacts['report.pdf']")
		}
		r.Artifact = key[1] + key[2]
		if !CleanPath(r.Artifact) {
			return p.fail("%q is not the name of an artifact: it is a path below /workspace/out", r.Artifact)
		}
	default:
		err = p.fail("expected .output or .artifacts['NAME'] after the step")
	}
	return err
}

func (p *refParser) path() ([]Elem, error) {
	var out []Elem
	for {
		if len(out) > maxPath {
			return nil, p.fail("the path has more than %d parts", maxPath)
		}
		if p.take(".") {
			m := p.match(identHead)
			if m == nil {
				return nil, p.fail("expected a name after the dot; write ['…'] for other names")
			}
			out = append(out, Elem{Key: m[0]})
		} else if m := p.match(indexHead); m != nil {
			n, _ := strconv.Atoi(m[1]) // the rule allows six digits
			out = append(out, Elem{Index: n, List: true})
		} else if m := p.match(keyHead); m != nil {
			out = append(out, Elem{Key: m[1] + m[2]})
		} else if strings.HasPrefix(p.s[p.at:], "[") {
			return nil, p.fail("expected an index or a quoted key in [ ]")
		} else {
			return out, nil
		}
	}
}
