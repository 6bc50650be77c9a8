package git

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
)

// Commit is the full name of a commit, in hex.
type Commit string

var (
	fullName  = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
	shortName = regexp.MustCompile(`^[0-9a-f]{4,64}$`)
	backwards = regexp.MustCompile(`^(.*?)((?:~[0-9]*|\^[0-9]?)*)$`)
	oneBack   = regexp.MustCompile(`[~^][0-9]*`)
	// badRef is what git-check-ref-format refuses, and so what could lead out of the directory of refs.
	badRef = regexp.MustCompile(`[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^[/.-]|/\.|[/.]$|\.lock$`)
)

// Resolve finds the commit that rev names: HEAD, a branch, a tag, a remote's branch or the first 4 digits or more of a
// commit's name, and behind it any number of ~N and ^N (https://git-scm.com/docs/gitrevisions). The error wraps
// ErrNotFound when there is none.
func (r *Repo) Resolve(rev string) (Commit, error) {
	parts := backwards.FindStringSubmatch(rev)
	if parts == nil || parts[1] == "" {
		return "", fmt.Errorf("%q is not a revision", rev)
	}
	name, err := r.named(parts[1])
	if err != nil {
		return "", err
	}
	at, err := r.peel(name)
	if err != nil {
		return "", err
	}
	back := 0
	for _, step := range oneBack.FindAllString(parts[2], -1) {
		n := 1
		if step[1:] != "" {
			if n, err = strconv.Atoi(step[1:]); err != nil {
				return "", fmt.Errorf("%q is not a revision", rev)
			}
		}
		parent, times := n, 1
		if step[0] == '~' {
			parent, times = 1, n
		}
		if back += times; back > maxBack {
			return "", fmt.Errorf("%s goes back more than %d commits", rev, maxBack)
		}
		for range times {
			if at, err = r.parent(at, parent); err != nil {
				return "", fmt.Errorf("go back from %s: %w", parts[1], err)
			}
		}
	}
	return at, nil
}

// named is the object a name without ~ and ^ stands for.
func (r *Repo) named(name string) (string, error) {
	if fullName.MatchString(name) {
		return name, nil
	}
	if name == "@" {
		name = "HEAD"
	}
	if badRef.MatchString(name) {
		return "", fmt.Errorf("%q is not a revision", name)
	}
	for _, pattern := range []string{"%s", "refs/%s", "refs/tags/%s", "refs/heads/%s", "refs/remotes/%s", "refs/remotes/%s/HEAD"} {
		ref := fmt.Sprintf(pattern, name)
		if !strings.HasPrefix(ref, "refs/") && strings.ToUpper(ref) != ref {
			continue // beside HEAD and its like there are files in a git directory that are no refs
		}
		found, err := r.ref(ref)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return found, err
		}
	}
	if shortName.MatchString(name) {
		return r.abbreviated(name)
	}
	return "", fmt.Errorf("revision %s: %w", name, ErrNotFound)
}

// ref follows a ref to an object. The error wraps fs.ErrNotExist when there is no such ref.
func (r *Repo) ref(name string) (string, error) {
	for range maxHops {
		text, err := r.readRef(name)
		if err != nil {
			return "", err
		}
		next, symbolic := strings.CutPrefix(text, "ref:")
		if !symbolic {
			if text, _, _ = strings.Cut(text, "\t"); !fullName.MatchString(text) { // FETCH_HEAD says more behind a tab
				return "", fmt.Errorf("%s holds no name of an object", name)
			}
			return text, nil
		}
		if next = strings.TrimSpace(next); next == "refs/heads/.invalid" {
			return "", errors.New("the repository keeps its refs in a reftable, which joy cannot read")
		} else if badRef.MatchString(next) || !strings.HasPrefix(next, "refs/") {
			return "", fmt.Errorf("%s leads to %q, which is no ref", name, next)
		}
		name = next
	}
	return "", fmt.Errorf("%s leads from ref to ref more than %d times", name, maxHops)
}

func (r *Repo) readRef(name string) (string, error) {
	for _, root := range r.dirs {
		info, err := fs.Stat(root.FS(), name)
		if err != nil || info.IsDir() {
			continue
		}
		return readSmall(root.FS(), name)
	}
	packed, err := readCapped(r.dirs[len(r.dirs)-1].FS(), "packed-refs", maxRefs)
	if err != nil {
		return "", fmt.Errorf("read refs: %w", err)
	}
	for line := range bytes.Lines(packed) {
		if hash, ref, ok := strings.Cut(strings.TrimSpace(string(line)), " "); ok && ref == name {
			return hash, nil
		}
	}
	return "", fmt.Errorf("ref %s: %w", name, fs.ErrNotExist)
}

// peel follows tags to a commit.
func (r *Repo) peel(name string) (Commit, error) {
	for range maxHops {
		o, err := r.object(name)
		if err != nil {
			return "", err
		}
		if o.kind == kindCommit {
			return Commit(name), nil
		}
		to, ok := header(o.data, "object")
		if o.kind != kindTag || !ok {
			return "", fmt.Errorf("%.12s is a %s and no commit", name, o.kind)
		}
		name = to
	}
	return "", fmt.Errorf("%.12s is a tag of a tag more than %d times", name, maxHops)
}

// parent is the nth parent of a commit; 0 is the commit itself.
func (r *Repo) parent(c Commit, n int) (Commit, error) {
	o, err := r.typed(string(c), kindCommit)
	if err != nil || n == 0 {
		return c, err
	}
	for line := range bytes.Lines(o.data) {
		text := strings.TrimSuffix(string(line), "\n")
		if text == "" {
			break
		}
		if p, ok := strings.CutPrefix(text, "parent "); ok && fullName.MatchString(p) {
			if n--; n == 0 {
				return Commit(p), nil
			}
		}
	}
	return "", fmt.Errorf("commit %.12s has no such parent: %w", c, ErrNotFound)
}

// header is the first line of a commit or tag that begins with key.
func header(data []byte, key string) (string, bool) {
	for line := range bytes.Lines(data) {
		if len(line) == 1 {
			break
		}
		if value, ok := strings.CutPrefix(strings.TrimSuffix(string(line), "\n"), key+" "); ok {
			return value, fullName.MatchString(value)
		}
	}
	return "", false
}
