package skill

import (
	"path"
	"slices"
	"strings"
)

// maxScript is how much of a bundled script is read for what it contacts, in bytes.
const maxScript = 256 << 10

// matchScriptHosts are the hosts that matchScripts knows by name.
func matchScriptHosts(j *judge) []hit {
	return asServices(slices.DeleteFunc(matchScripts(j), func(h hit) bool { return h.need.Name == "" }))
}

// started are the scripts that the text runs, and what lies beside them and is written in the same language: they
// import it.
func (b *Bundle) started() (out []string) {
	beside := map[string]bool{}
	for _, p := range b.candidatePaths {
		beside[path.Dir(p)+path.Ext(p)] = true
	}
	for _, f := range b.Files {
		if beside[path.Dir(f.Path)+path.Ext(f.Path)] {
			out = append(out, f.Path)
		}
	}
	return out
}

// matchScripts looks into the scripts that the text runs for the hosts that they contact.
func matchScripts(j *judge) (out []hit) {
	for _, p := range append(j.b.started(), j.ownSources()...) {
		data := j.b.Contents[p]
		low := strings.ToLower(string(data[:min(len(data), maxScript)]))
		if !hasAny(low, connectingCalls) {
			continue
		}
		found := false
		for _, c := range serviceClients {
			if at := strings.Index(low, c.call); at >= 0 && !hasAny(low, otherBases) {
				out, found = append(out, hit{need: Need{c.host, KindAPI}, file: p, line: 1 + strings.Count(low[:at], "\n"), seen: c.call}), true
			}
		}
		for n, text := range strings.Split(low, "\n") {
			if t := strings.TrimSpace(text); strings.HasPrefix(t, "#") || strings.HasPrefix(t, "//") || !strings.Contains(t, "://") || hasAny(t, forReaders) {
				continue
			}
			for _, h := range hosts(text) {
				if (reachable(h) || publicAddress(h)) && h != "github.com" && !hasAny(h, pageHosts) {
					out, found = append(out, hit{need: Need{h, KindAPI}, file: p, line: n + 1, seen: text}), true
				}
			}
		}
		if !found && !strings.Contains(low, "localhost") && !strings.Contains(low, "127.0.0.1") {
			out = append(out, hit{need: Need{"", KindAPI}, file: p, seen: "it uses a library for HTTP"})
		}
	}
	return out
}

// matchScriptCommands looks into the scripts that the text runs for programs that talk to a service: in the lines of
// shell scripts, and as the first of a list of arguments in others.
func matchScriptCommands(j *judge) (out []hit) {
	for _, p := range j.b.candidatePaths {
		data := j.b.Contents[p]
		if path.Ext(p) != ".sh" {
			out = append(out, startedPrograms(p, string(data[:min(len(data), maxScript)]))...)
			continue
		}
		for n, text := range strings.Split(string(data[:min(len(data), maxScript)]), "\n") {
			for _, part := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune("|;&()`", c) }) {
				words := trimWords(strings.Fields(part))
				if len(words) < 2 {
					continue
				}
				if s := byCommand[words[0]]; s != nil && !(command{words: words}).installs() {
					out = append(out, hit{need: s.need(), file: p, line: n + 1, seen: text})
				}
			}
		}
	}
	return out
}

// startedPrograms are the programs of services that a script starts with a list of arguments, as in ["gh", "pr"], or
// with a text, as in "gh pr view".
func startedPrograms(p, script string) (out []hit) {
	for n, text := range strings.Split(script, "\n") {
		for _, opener := range []string{`"`, `'`, "`"} {
			_, rest, ok := strings.Cut(text, opener)
			name, more, spaced := strings.Cut(rest, " ")
			if s := byCommand[name]; ok && spaced && s != nil && strings.Contains(more, opener) && hasAny(text, starting) {
				out = append(out, hit{need: s.need(), file: p, line: n + 1, seen: text})
			}
		}
		for _, opener := range []string{`["`, `['`} {
			_, rest, ok := strings.Cut(text, opener)
			name, more, closed := strings.Cut(rest, opener[1:])
			if s := byCommand[name]; ok && closed && s != nil && strings.HasPrefix(more, ",") {
				out = append(out, hit{need: s.need(), file: p, line: n + 1, seen: text})
			}
		}
	}
	return out
}
