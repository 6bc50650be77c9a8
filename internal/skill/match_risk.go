package skill

import (
	"net/netip"
	"regexp"
	"strings"
)

// blob is what only an encoding makes: a long run of its letters.
var blob = regexp.MustCompile(`[A-Za-z0-9+/=]{40,}|(?:\\x[0-9a-fA-F]{2}){16,}`)

// evaluated is a decoder in the hands of what runs its result, in a language or a shell.
var evaluated = regexp.MustCompile(`(?i)\b(?:eval|exec|iex)\s*\(+\s*(?:[\w.]{1,40}\(\s*){0,3}(?:[\w.]{0,40}b64decode|atob)\(|\s-e(?:nc|ncodedcommand)\s`)

// matchBlob wants the blob, the decoder and what runs the result, all on one line and the latter two close together.
func matchBlob(l *textLine) bool {
	at := firstAny(l.low, decoders)
	if at < 0 {
		return false
	}
	after := l.low[at:min(len(l.low), at+200)]
	return (runsResult(after) || evaluated.MatchString(l.text)) && blob.MatchString(l.text)
}

// firstAny is where the first of words that is there begins, or -1.
func firstAny(s string, words []string) int {
	for _, w := range words {
		if i := strings.Index(s, w); i >= 0 {
			return i
		}
	}
	return -1
}

func runsResult(low string) bool {
	if hasAny(low, evaluators) {
		return true
	}
	_, after, piped := strings.Cut(low, "|")
	for piped {
		words := strings.Fields(after)
		if len(words) > 1 && words[0] == "sudo" {
			words = words[1:]
		}
		if len(words) > 0 && shells[strings.Trim(words[0], "`\"');.,")] {
			return true
		}
		_, after, piped = strings.Cut(after, "|")
	}
	return false
}

// matchRawIP wants a fetch from a public IP address whose result is run, in code.
func matchRawIP(l *textLine) bool {
	return strings.Contains(l.low, "://") && hasAny(l.low, fetchWords) && publicIP(l.low) &&
		(runsResult(l.low) || hasAny(l.low, startsResult))
}

// publicIP reports an address that is a public IPv4 address.
func publicIP(low string) bool {
	for _, h := range hosts(low) {
		addr, err := netip.ParseAddr(h)
		if err == nil && addr.IsGlobalUnicast() && !addr.IsPrivate() && !hasPrefix(h, documentationNets) {
			return true
		}
	}
	return false
}

func matchCurlShell(l *textLine) bool {
	if !strings.Contains(l.low, "http") || !hasAny(l.low, fetchWords) {
		return false
	}
	return runsResult(l.low) || hasAny(l.low, substitutions)
}

// matchHidden looks for comments of Markdown that tell an agent what to do.
func matchHidden(l *textLine) bool {
	return l.comment && hasAny(l.low, hiddenTalk)
}

func matchLockedDownload(l *textLine) bool {
	return (!l.code || strings.Contains(l.low, "unzip -p")) && hasAny(l.low, passwordWords) && hasAny(l.low, archiveWords) && hasAny(l.low, obtainWords)
}

func matchDrop(l *textLine) bool {
	return strings.Contains(l.low, "://") && hasAny(l.low, dropHosts)
}

// matchRemoteText looks for an address of a text for agents that is fetched, not merely linked.
func matchRemoteText(l *textLine) bool {
	i := strings.Index(l.low, "://")
	if i < 0 || strings.Contains(l.low, "](http") || !hasAny(l.low[i:], agentTexts) {
		return false
	}
	return l.code || hasAny(l.low, readWordsOfAgents)
}

// matchLoadCode looks for commands that some agents run while they load the text: !`command`.
func matchLoadCode(l *textLine) bool {
	if !l.markdown || l.code {
		return false
	}
	i := strings.Index(l.text, "!`")
	return i >= 0 && (i == 0 || l.text[i-1] == ' ') && strings.Count(l.text[:i], "`")%2 == 0 && strings.Contains(l.text[i+2:], "`")
}

func matchMemory(l *textLine) bool {
	return hasAny(l.low, agentFiles) && (hasAny(l.low, writeSigns) || !l.code && startsWriting(l.low))
}

// startsWriting reports a line whose first words tell to write something.
func startsWriting(low string) bool {
	words := strings.FieldsFunc(low, func(c rune) bool { return (c < 'a' || c > 'z') && c != '.' })
	for _, w := range words[:min(len(words), 3)] {
		if writeVerbs[w] {
			return true
		}
	}
	return false
}
