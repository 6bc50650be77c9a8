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
	for _, p := range j.b.started() {
		data := j.b.Contents[p]
		low := strings.ToLower(string(data[:min(len(data), maxScript)]))
		if !hasAny(low, connectingCalls) {
			continue
		}
		found := false
		for n, text := range strings.Split(low, "\n") {
			if t := strings.TrimSpace(text); strings.HasPrefix(t, "#") || strings.HasPrefix(t, "//") || !strings.Contains(t, "://") {
				continue
			}
			for _, h := range hosts(text) {
				if reachable(h) && h != "github.com" && !hasAny(h, pageHosts) {
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

// matchScriptCommands looks into the shell scripts that the text runs for programs that talk to a service.
func matchScriptCommands(j *judge) (out []hit) {
	for _, p := range j.b.candidatePaths {
		if path.Ext(p) != ".sh" {
			continue
		}
		data := j.b.Contents[p]
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
