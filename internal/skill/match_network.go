package skill

import (
	"net/netip"
	"path"
	"strings"
)

// matchRequest looks for a request to a host that is made by a command or by a script's code.
func matchRequest(j *judge, l *line) (out []hit) {
	if host := remoteShell(l); host != "" {
		return []hit{{need: Need{host, KindAPI}, line: l.no, seen: l.text, optional: l.optional || l.setup}}
	}
	if l.setup && !l.fetches || !requests(l) || !l.fetches && j.about().integrates || j.about().reference {
		return nil
	}
	if l.fetching() && !strings.Contains(l.low, "://") && strings.Contains(l.text, "$") && !strings.Contains(l.low, "localhost") {
		return []hit{{need: Need{"", KindAPI}, line: l.no, seen: l.text, optional: l.optional}} // to an address in a variable
	}
	for _, h := range hosts(l.low) {
		if reachable(h) || publicAddress(h) {
			out = append(out, hit{need: Need{h, KindAPI}, line: l.no, seen: l.text, optional: l.optional})
		}
	}
	return out
}

// remoteShell is the host that a command logs in to.
func remoteShell(l *line) string {
	for _, c := range l.commands {
		if c.words[0] != "ssh" && c.words[0] != "scp" && c.words[0] != "sftp" {
			continue
		}
		for _, w := range c.words[1:] {
			_, host, found := strings.Cut(w, "@")
			if !found {
				host = w
			}
			host, _, _ = strings.Cut(strings.ToLower(host), ":")
			if !strings.HasPrefix(w, "-") && strings.Contains(host, ".") && onlyHost(host) && reachable(host) {
				return host
			}
		}
	}
	return ""
}

func onlyHost(s string) bool {
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789.-") == "" && !fileExts[strings.TrimPrefix(path.Ext(s), ".")]
}

// matchCall is matchRequest without what only downloads from anywhere.
func matchCall(j *judge, l *line) []hit {
	if len(l.commands) > 0 && downloaders[path.Base(l.commands[0].words[0])] {
		return nil
	}
	hits := asServices(matchRequest(j, l))
	if len(hits) > 0 && (hits[0].need.Name == "" && l.into || l.into && namesFile(l.low)) {
		return nil // a file from somewhere is no service
	}
	return hits
}

// namesFile reports an address, in lower case, that ends with the name of a file.
func namesFile(low string) bool {
	_, address, ok := strings.Cut(low, "://")
	address, _, _ = strings.Cut(strings.Trim(address, "\"'`"), " ")
	ext := path.Ext(strings.TrimRight(address, "\"'`"))
	return ok && strings.Contains(address, "/") && len(ext) > 1 && len(ext) < 6 && !strings.Contains(ext, "/")
}

// asServices names services in place of their hosts.
func asServices(hits []hit) []hit {
	for i := range hits {
		hits[i].need = Need{serviceOf(hits[i].need.Name), KindService}
	}
	return hits
}

// serviceOf is the name under which a host is registered: notion of api.notion.com, treasury of api.treasury.gov.
func serviceOf(host string) string {
	labels := strings.Split(host, ".")
	at := len(labels) - 2
	if at > 0 && registries[labels[at]] {
		at--
	}
	return labels[max(at, 0)]
}

// requests reports a line of a command or of script code that contacts something; code of an application that the
// skill teaches to write is not run by the skill.
func requests(l *line) bool {
	if l.fetches || l.kind == code && hasPrefix(strings.TrimSpace(l.low), httpMethods) {
		return true
	}
	script := l.lang == "python" || l.lang == "py" || l.lang == "r"
	return l.kind == code && script && (hasAny(l.low, pythonFetches) || hasAny(l.low, baseAddresses))
}

// hosts are the names in the addresses of a text in lower case.
func hosts(low string) (out []string) {
	for {
		_, rest, ok := strings.Cut(low, "://")
		if !ok {
			return out
		}
		end := strings.IndexFunc(rest, func(c rune) bool {
			return !(c == '.' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z')
		})
		host := rest
		if end >= 0 {
			host = rest[:end]
		}
		if strings.Contains(host, ".") {
			out = append(out, host)
		}
		low = rest
	}
}

// reachable reports a host that a run would contact: no example, no machine of one's own.
func reachable(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	return !strings.HasPrefix(host, "your") && !hasAny(host, noHosts)
}

// publicAddress reports an IP address of the Internet: none of a private network, and none that documents use
// (RFC 5737, RFC 6890).
func publicAddress(host string) bool {
	a, err := netip.ParseAddr(host)
	if err != nil || !a.IsGlobalUnicast() || a.IsPrivate() {
		return false
	}
	return !hasAny(host, documentAddresses)
}

// matchWeb looks for the tools of agents that search and read the web, and for instructions to do so.
func matchWeb(j *judge, l *line) []hit {
	drawing := l.kind == code && l.lang == "" && strings.Contains(l.low, "via web search")
	if drawing || strings.Contains(l.low, "`#fetch`") { // a tool of agents
		return []hit{{need: Need{"", KindAPI}, line: l.no, seen: l.text, optional: l.optional}}
	}
	if !l.instruction() || strings.HasPrefix(strings.TrimSpace(l.text), "|") {
		return nil
	}
	ok := told(j.words, searchVerbs, 4, webNouns) || told(j.words, fetchVerbs, 6, pageNouns) || webPhrase(j.words)
	for i, w := range j.words {
		if webTools[w.text] && (i == 0 || after(j.words, i, 3, webUsing)) && !after(j.words, i, 4, negations) {
			ok = true
		}
	}
	if !ok {
		return nil
	}
	return []hit{{need: Need{"", KindAPI}, line: l.no, seen: l.text, optional: l.optional || l.conditional() || hasAny(l.low, ifNeeded)}}
}

// matchDownload looks for an instruction to download what is no program.
func matchDownload(j *judge, l *line) []hit {
	if l.setup || !told(j.words, downloadVerbs, 6, downloadNouns) {
		return nil
	}
	return []hit{{need: Need{"", KindAPI}, line: l.no, seen: l.text, optional: l.optional || l.conditional()}}
}

// webPhrase looks for "web search" and its kin where an instruction begins or after a word for using it.
func webPhrase(words []word) bool {
	for i := 0; i+1 < len(words); i++ {
		if words[i].text == "web" && searchNouns[words[i+1].text] && (i == 0 || after(words, i, 3, webUsing)) && !after(words, i, 6, negations) {
			return true
		}
	}
	return false
}

// matchAboutWeb asks the same of the description.
func matchAboutWeb(j *judge) []hit {
	j.words = readWords(strings.ToLower(j.b.Description), j.words)
	if !webPhrase(j.words) && !told(j.words, searchVerbs, 4, webNouns) {
		return nil
	}
	return []hit{{need: Need{"", KindAPI}, line: j.b.descriptionLine, seen: j.b.Description}}
}

// matchTarget looks for programs that do nothing without another machine to look into.
func matchTarget(_ *judge, l *line) []hit {
	for _, c := range l.commands {
		if targeting[path.Base(c.words[0])] && len(c.words) > 1 && !c.installs() {
			return []hit{{need: Need{"", KindAPI}, line: l.no, seen: l.text, optional: l.optional || l.setup}}
		}
	}
	return nil
}

// matchLibrary looks for calls of libraries that fetch.
func matchLibrary(_ *judge, l *line) []hit {
	if l.kind != code {
		return nil
	}
	low := strings.ReplaceAll(l.low, "sns.load_dataset(", "") // of another library, and for examples
	for _, f := range fetchingLibraries {
		if strings.Contains(low, f.call) {
			return []hit{{need: Need{f.host, KindAPI}, line: l.no, seen: l.text, optional: l.optional}}
		}
	}
	return nil
}
