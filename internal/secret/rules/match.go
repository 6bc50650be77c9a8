package rules

import "bytes"

func (r *rule) lead() int {
	if r.anchored {
		return 0
	}
	return lead
}

// reach is where a match that has its literal at a place must end, and whether the text goes that far. Most end with
// their line, which a backslash before its end continues; NUL ends a line in what is no text.
func (r *rule) reach(text []byte, at int) (hi int, whole bool) {
	hi = min(at+r.most, len(text))
	if r.over {
		return hi, at+r.most <= len(text)
	}
	for i := at; i < hi; i++ {
		n := bytes.IndexAny(text[i:hi], "\n\x00")
		if n < 0 {
			break
		}
		i += n
		if text[i] == 0 {
			return i, true
		}
		if !bytes.HasSuffix(bytes.TrimSuffix(text[at:i], []byte("\r")), []byte(`\`)) {
			return i + 1, true
		}
	}
	return hi, at+r.most <= len(text)
}

// match holds the text around a literal against the rule's expression.
func (s *Set) match(r *rule, text []byte, at, hi int) (Span, bool) {
	lo, from := at-1, at
	var loc []int
	if r.anchored {
		loc = r.re().FindSubmatchIndex(text[lo:hi])
		if loc != nil {
			loc[0]++ // less the byte before
		}
	} else {
		lo = max(bytes.LastIndexAny(text[:at], "\n\x00")+1, at-lead, 0)
		from = lo
		for _, l := range r.re().FindAllSubmatchIndex(text[lo:hi], -1) {
			if lo+l[0] <= at && at < lo+l[1] {
				loc = l
			}
		}
	}
	if loc == nil {
		return Span{}, false
	}
	for i := range loc {
		if loc[i] >= 0 {
			loc[i] += lo
		}
	}
	start, end := r.secret(text, loc)
	begin := loc[0]
	if r.command != nil {
		if begin = r.commandBefore(text, at); begin < 0 {
			return Span{}, false
		}
	}
	for r.run && begin > 0 && at-begin < maxRun && named(text[begin-1]) {
		begin--
	}
	line := max(bytes.LastIndexAny(text[:begin], "\n\x00")+1, at-Before, 0)
	if start >= end || !s.judge(r, text[start:end], text[begin:loc[1]], text[line:hi]) {
		return Span{}, false
	}
	return Span{Rule: r.id, Start: start, End: end, from: from}, true
}

// secret is the place of the secret in a match, without line ends around it.
func (r *rule) secret(text []byte, loc []int) (start, end int) {
	start, end = loc[0], loc[1]
	for g := 1; 2*g+1 < len(loc); g++ {
		if a, b := loc[2*g], loc[2*g+1]; a < b && (r.group == 0 || r.group == g) {
			start, end = a, b
			break
		}
	}
	for start < end && text[start] == '\n' {
		start++
	}
	for start < end && text[end-1] == '\n' {
		end--
	}
	return start, end
}

// named says whether a byte is of a name, as the expressions have it.
func named(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_' || c == '.' || c == '-'
}
