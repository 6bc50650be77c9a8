package rules

import "bytes"

// assignment is what follows the name in most rules that go by one. Most names in a text are followed by something else,
// which is seen here at a tenth of what the expression takes.
const assignment = `[\s'"]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)`

const (
	operators = "=>:|?,"
	around    = " \t\r\n\f'\"`"
	far       = 40 // the rest of a name, 20 bytes of more names, 3 around them
	fewest    = 6  // bytes of a secret
)

// assigns says whether an assignment of something that is no word of prose may follow in text, which is all that follows,
// unless it ends. It is never wrong when it says no.
func assigns(text []byte) bool {
	i := 0
	for ; i < len(text) && !isOne(text[i], operators); i++ {
		if i > far || !named(text[i]) && !isOne(text[i], around) {
			return false
		}
	}
	for i < len(text) && isOne(text[i], operators) {
		i++
	}
	for n := 0; n < 5 && i < len(text) && (isOne(text[i], around) || text[i] == '='); n++ {
		i++
	}
	for _, c := range text[i:min(i+fewest, len(text))] {
		if isOne(c, around) {
			return false
		}
	}
	return true
}

func isOne(c byte, of string) bool { return bytes.IndexByte([]byte(of), c) >= 0 }
