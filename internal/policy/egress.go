package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// CheckHosts says what is wrong with an egress list: a name that CheckHost refuses, or one that is there twice.
func CheckHosts(names []string) error {
	var errs []error
	for i, name := range names {
		if err := CheckHost(name); err != nil {
			errs = append(errs, err)
		} else if slices.Contains(names[:i], name) {
			errs = append(errs, fmt.Errorf("%q is there twice", name))
		}
	}
	return errors.Join(errs...)
}

// CheckHost accepts the one spelling of a host name that egress knows: lower-case labels of letters, digits and
// hyphens (RFC 1123, section 2.1), at least two, the last with a letter in it; the first may be "*". Addresses, ports
// and schemes are refused: a grant names who is reached, and an address does not.
func CheckHost(name string) error {
	bad := func(why string) error { return fmt.Errorf("%q is not a host name: %s", name, why) }
	switch {
	case name == "":
		return bad("it is empty")
	case strings.Contains(name, "://"):
		return bad("leave out the scheme")
	case len(name) > 253:
		return bad("it is longer than 253 bytes")
	case strings.ToLower(name) != name:
		return bad("write it in lower case")
	case strings.Contains(name, "/"):
		return bad("leave out the path")
	case strings.Contains(name, ":"):
		return bad("leave out the port; an address cannot be granted")
	}
	labels := strings.Split(strings.TrimPrefix(name, "*."), ".")
	if len(labels) < 2 {
		return bad("it needs at least two labels, as in example.com")
	}
	for _, l := range labels {
		if !hostLabel(l) {
			return bad(fmt.Sprintf("the label %q may hold a-z, 0-9 and inner hyphens", l))
		}
	}
	if last := labels[len(labels)-1]; !strings.ContainsAny(last, "abcdefghijklmnopqrstuvwxyz") || strings.HasPrefix(last, "0x") {
		return bad("an address cannot be granted, only a name")
	}
	return nil
}

func hostLabel(l string) bool {
	if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' {
		return false
	}
	return strings.Trim(l, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// Covers reports whether granted includes name, itself or as part of a wildcard. "*.example.com" includes every name
// below example.com and "*.a.example.com", never example.com.
func Covers(granted []string, name string) bool {
	_, ok := CoveredBy(granted, name)
	return ok
}

// CoveredBy is the first of granted that includes name: see Covers.
func CoveredBy(granted []string, name string) (by string, ok bool) {
	for _, g := range granted {
		if g == name {
			return g, true
		}
		if suffix, wild := strings.CutPrefix(g, "*"); wild && strings.HasSuffix(name, suffix) && name != suffix {
			return g, true
		}
	}
	return "", false
}
