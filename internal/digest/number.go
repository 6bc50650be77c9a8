package digest

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// maxInteger is the largest integer that every JSON reader keeps exactly (RFC 8785, section 3.2.2.3; RFC 7493).
const maxInteger = 1<<53 - 1

// canonicalNumber takes the text of a valid JSON number. See CanonicalJSON for what it promises.
func canonicalNumber(text string) (string, error) {
	if !strings.ContainsAny(text, ".eE") {
		return canonicalInteger(text)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) {
		return "", fmt.Errorf("number %.40s is out of the range of a double", text)
	}
	if f == math.Trunc(f) && math.Abs(f) < 1e21 { // ECMAScript writes these without an exponent
		return canonicalInteger(strconv.FormatFloat(f, 'f', -1, 64))
	}
	return ecmaFloat(f), nil
}

func canonicalInteger(text string) (string, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n > maxInteger || n < -maxInteger {
		return "", fmt.Errorf("integer %.40s is beyond 2^53-1, where readers disagree: write it as a string", text)
	}
	if n == 0 {
		return "0", nil // also for -0
	}
	return text, nil
}

// ecmaFloat is Number::toString of ECMA-262 for a double that is finite and not a small integer: the shortest digits
// that read back as f, with an exponent below 1e-6 and from 1e21 on.
func ecmaFloat(f float64) string {
	if abs := math.Abs(f); abs >= 1e-6 && abs < 1e21 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	s := strconv.FormatFloat(f, 'e', -1, 64)
	mantissa, exp, _ := strings.Cut(s, "e")
	sign, digits := exp[:1], strings.TrimLeft(exp[1:], "0") // Go pads the exponent to two digits
	return mantissa + "e" + sign + digits
}

const hexDigits = "0123456789abcdef"

// appendString quotes s with the fewest escapes JSON allows (RFC 8785, section 3.2.2.2).
func appendString(out []byte, s string) []byte {
	out = append(out, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c >= ' ':
			out = append(out, c)
		case strings.IndexByte("\b\t\n\f\r", c) >= 0:
			out = append(out, '\\', "btn_fr"[c-'\b'])
		default:
			out = append(out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(out, '"')
}
