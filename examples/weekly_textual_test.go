//go:build unix

package examples_test

import (
	"bytes"
	"compress/zlib"
	"encoding/ascii85"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// textual gives a PDF to the module that writes it in letters.
func textual(t *testing.T, pdf string) (string, error) {
	t.Helper()
	const script = "import sys; sys.path.insert(0, sys.argv[1]); import textual; sys.stdout.buffer.write(textual.pdf(sys.stdin.buffer.read()))"
	cmd := exec.CommandContext(t.Context(), "python3", "-B", "-c", script, weekly+"print-report/scripts")
	cmd.Stdin = strings.NewReader(pdf)
	out, err := cmd.Output()
	return string(out), err
}

// bound makes a PDF of objects, in their order, numbered as the list says, with a table of where they begin.
func bound(objects ...string) string {
	out, at := "%PDF-1.6\n%äüöß\n", make([]int, len(objects)+1)
	for _, object := range objects {
		number, err := strconv.Atoi(object[:1])
		if err == nil {
			at[number] = len(out)
		}
		out += object
	}
	start := len(out)
	out += fmt.Sprintf("xref\n0 %d\n0000000000 65535 f \n", len(at))
	for _, place := range at[1:] {
		out += fmt.Sprintf("%010d 00000 n \n", place)
	}
	return out + fmt.Sprintf("trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(at), start)
}

func deflated(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	_, err := io.WriteString(w, text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.String()
}

func stream(number int, entries, body string) string {
	return fmt.Sprintf("%d 0 obj\n<<%s>>\nstream\n%s\nendstream\nendobj\n\n", number, entries, body)
}

func TestPDFInLetters(t *testing.T) {
	page, font := strings.Repeat("0 0 m 1 1 l S\n", 40), strings.Repeat("\x00\xff\x80glyph\n>>\nstream\n", 30)
	packed := deflated(t, page)
	pdf := bound( // with a length behind its stream, as LibreOffice writes, one in it, and a stream that is not compressed
		stream(2, "/Length 3 0 R/Filter/FlateDecode", packed), fmt.Sprintf("3 0 obj\n%d\nendobj\n\n", len(packed)),
		stream(4, fmt.Sprintf("/Length %d/Length1 9", len(font)), font), "1 0 obj\n<</Type/Catalog>>\nendobj\n\n")
	out, err := textual(t, pdf)
	require.NoError(t, err)
	require.True(t, utf8.ValidString(out))
	require.NotContains(t, out, "\x00")
	for number := 1; number <= 4; number++ {
		require.True(t, strings.HasPrefix(out[place(t, out, number):], fmt.Sprintf("%d 0 obj\n", number)), "object %d is not where the table says", number)
	}
	require.Contains(t, out, "/Length 3 0 R/Filter[/ASCII85Decode/FlateDecode]>>")
	unpacked, err := zlib.NewReader(bytes.NewReader(spelled(t, out, 2)))
	require.NoError(t, err)
	text, err := io.ReadAll(unpacked)
	require.NoError(t, err)
	require.Equal(t, page, string(text))
	require.Contains(t, out, "/Length1 9/Filter/ASCII85Decode>>")
	require.Equal(t, font, string(spelled(t, out, 4)))
}

// place is where the table of a PDF says that an object begins.
func place(t *testing.T, pdf string, number int) int {
	t.Helper()
	start, err := strconv.Atoi(regexp.MustCompile(`startxref\n(\d+)\n`).FindStringSubmatch(pdf)[1])
	require.NoError(t, err)
	table := strings.Split(pdf[start:], "\n")
	require.Equal(t, "xref", table[0])
	at, err := strconv.Atoi(strings.TrimLeft(table[2+number][:10], "0"))
	require.NoError(t, err)
	return at
}

// spelled is the stream of an object, read as its length says and out of its letters.
func spelled(t *testing.T, pdf string, number int) []byte {
	t.Helper()
	object := pdf[place(t, pdf, number):]
	head, rest, found := strings.Cut(object, ">>\nstream\n")
	require.True(t, found)
	said := regexp.MustCompile(`/Length (\d+)( 0 R)?`).FindStringSubmatch(head)
	length, err := strconv.Atoi(said[1])
	require.NoError(t, err)
	if said[2] != "" {
		length, err = strconv.Atoi(strings.Split(pdf[place(t, pdf, length):], "\n")[1])
		require.NoError(t, err)
	}
	letters, ended := strings.CutSuffix(rest[:length], "~>")
	require.True(t, ended, "the length is not that of the letters")
	require.True(t, strings.HasPrefix(rest[length:], "\nendstream"))
	out, err := io.ReadAll(ascii85.NewDecoder(strings.NewReader(letters)))
	require.NoError(t, err)
	return out
}

func TestPDFThatCannotBeWrittenInLetters(t *testing.T) {
	catalog := "1 0 obj\n<</Type/Catalog>>\nendobj\n\n"
	for name, tt := range map[string]struct{ pdf, want string }{
		"empty":            {"", "no table"},
		"no table":         {strings.Replace(bound(catalog), "xref\n0", "yref\n0", 1), "no table"},
		"no objects":       {bound(), "no objects"},
		"more behind it":   {bound(catalog) + "x", "no table"},
		"no length":        {bound(catalog, stream(2, "/Filter/FlateDecode", "x")), "unknown form"},
		"parameters":       {bound(catalog, stream(2, "/Length 1/DecodeParms<</Predictor 12>>", "x")), "unknown form"},
		"a length nowhere": {bound(catalog, stream(2, "/Length 9 0 R", "x")), "object 9 of the PDF is no length"},
		"a length of text": {bound(catalog, stream(2, "/Length 1 0 R", "x")), "object 1 of the PDF is no length"},
		"bytes outside":    {bound(strings.Replace(catalog, "Catalog", "\xff", 1)), "codec can't decode"},
		"NUL outside":      {bound(strings.Replace(catalog, "Catalog", "\x00", 1)), "NUL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := textual(t, tt.pdf)
			var failed *exec.ExitError
			require.ErrorAs(t, err, &failed)
			require.Contains(t, string(failed.Stderr), tt.want)
			require.Regexp(t, `\n(ValueError|UnicodeDecodeError): `, string(failed.Stderr), "print.py tells these, and no others")
		})
	}
}
