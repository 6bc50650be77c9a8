package container_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/container"
)

const mark = "find-me-0123456789"

// parts are a file's members by name, in order.
type parts [][2]string

func zipOf(t testing.TB, list parts) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, p := range list {
		w, err := z.Create(p[0])
		require.NoError(t, err)
		_, err = io.WriteString(w, p[1])
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.String()
}

func tarOf(t testing.TB, list parts) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, p := range list {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: p[0], Mode: 0o600, Size: int64(len(p[1]))}))
		_, err := io.WriteString(w, p[1])
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.String()
}

// pack writes a text through a compressor.
func pack(t testing.TB, make func(io.Writer) io.WriteCloser, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := make(&b)
	_, err := io.WriteString(w, text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.String()
}

func gz(t testing.TB, text string) string {
	t.Helper()
	return pack(t, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }, text)
}

func deflate(t testing.TB, text string) string {
	t.Helper()
	return pack(t, func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }, text)
}

// pdfOf is a document with these streams, as far as a reader of streams needs it.
func pdfOf(t testing.TB, streams ...string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("%PDF-1.7\n")
	for i, s := range streams {
		packed := deflate(t, s)
		fmt.Fprintf(&b, "%d 0 obj\n<< /Length %d /Filter /FlateDecode >>\nstream\r\n%s\nendstream\nendobj\n", i+1, len(packed), packed)
	}
	b.WriteString("trailer\n<< /Root 1 0 R >>\n%%EOF\n")
	return b.String()
}

// seen is all that a look visits.
func seen(file string, limits container.Limits) (string, container.Report, error) {
	var all strings.Builder
	rep, err := container.Look(context.Background(), strings.NewReader(file), int64(len(file)), limits, func(_ string, body io.Reader) error {
		b, err := io.ReadAll(body)
		all.Write(b)
		all.WriteByte('\n')
		return err
	})
	return all.String(), rep, err
}

func TestWhatAFileHoldsIsSeen(t *testing.T) {
	page := "BT /F1 12 Tf 72 712 Td [(find) -20 (-me-) 5 (0123)] TJ (4567\\\n89) Tj ET"
	hexPage := "BT <66696e64> Tj <2d6d652d30313233343536373839> Tj ET"
	document := `<w:document><w:p><w:r><w:t>find-</w:t></w:r><w:r w:rsid="1"><w:t xml:space="preserve">me-01234</w:t></w:r><w:t>5678&#57;</w:t></w:p></w:document>`
	for name, file := range map[string]string{
		"zip":                  zipOf(t, parts{{"a", "x"}, {"b/c", mark}}),
		"a name in a zip":      zipOf(t, parts{{mark, ""}}),
		"docx, in three runs":  zipOf(t, parts{{"[Content_Types].xml", "<Types/>"}, {"word/document.xml", document}}),
		"an attribute in xlsx": zipOf(t, parts{{"xl/x.xml", `<a b="` + mark + `"/>`}}),
		"tar":                  tarOf(t, parts{{"a", mark}}),
		"tar.gz":               gz(t, tarOf(t, parts{{"x", ""}, {"a", mark}})),
		"gzip":                 gz(t, mark),
		"two gzips":            gz(t, "x") + gz(t, mark),
		"zstd":                 pack(t, func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z }, mark),
		"zip in zip in zip":    zipOf(t, parts{{"a", zipOf(t, parts{{"b", zipOf(t, parts{{"c", mark}})}})}}),
		"gzip in zip":          zipOf(t, parts{{"a.gz", gz(t, mark)}}),
		"pdf in tar":           tarOf(t, parts{{"a.pdf", pdfOf(t, mark)}}),
		"behind a program":     "\x7fELF" + strings.Repeat("\x00", 5000) + zipOf(t, parts{{"a", mark}}),
		"pdf":                  pdfOf(t, "x", strings.Repeat("y", 9000), mark),
		"pdf, text in pieces":  pdfOf(t, page),
		"pdf, text in hex":     pdfOf(t, hexPage),
		"pdf, late":            pdfOf(t, strings.Repeat("random", 3)) + strings.Repeat("% comment\n", 3000) + pdfOf(t, mark),
		"zip in pdf":           pdfOf(t, zipOf(t, parts{{"a", mark}})),
		"a large member":       zipOf(t, parts{{"a", strings.Repeat("0123456789abcdef\n", 300_000) + mark}}),
	} {
		t.Run(name, func(t *testing.T) {
			all, rep, err := seen(file, container.Default)
			require.NoError(t, err)
			require.Contains(t, all, mark)
			require.NotEmpty(t, rep.Kind)
			require.Empty(t, rep.Unread)
		})
	}
}

func TestBounds(t *testing.T) {
	small := container.Limits{Depth: 2, Entries: 3, Bytes: 4 << 20, Ratio: 1000}
	zeros := strings.Repeat("\x00", 16<<20)
	for name, c := range map[string]struct{ file, want string }{
		"a bomb in zip":  {zipOf(t, parts{{"a", zeros}}), "unpacks to more than"},
		"a bomb in gzip": {gz(t, zeros), "unpacks to more than"},
		"a bomb in pdf":  {pdfOf(t, zeros), "unpacks to more than"},
		"many members":   {zipOf(t, parts{{"a", "x"}, {"b", "x"}, {"c", "x"}, {"d", "x"}}), "more than 3 files"},
		"many in a tar":  {tarOf(t, parts{{"a", "x"}, {"b", "x"}, {"c", "x"}, {"d", "x"}}), "more than 3 files"},
		"many streams":   {pdfOf(t, "a", "b", "c"), "more than 3 files"},
		"deep":           {gz(t, gz(t, gz(t, "x"))), "nested more than 2 deep"},
		"deep in zip":    {zipOf(t, parts{{"a", gz(t, gz(t, "x"))}}), "nested more than 2 deep"},
		"a long list":    {zipOf(t, longList()), "the list of what it holds"},
	} {
		t.Run(name, func(t *testing.T) {
			_, rep, err := seen(c.file, small)
			require.ErrorIs(t, err, container.ErrLimit)
			require.ErrorContains(t, err, c.want)
			require.NotEmpty(t, rep.Kind)
		})
	}
	_, _, err := seen(gz(t, zeros), container.Limits{Depth: 4, Entries: 10, Bytes: 1 << 30, Ratio: 20, Free: 1 << 20})
	require.ErrorIs(t, err, container.ErrLimit, "by its ratio alone")
}

func longList() (list parts) {
	for i := range 50_000 {
		list = append(list, [2]string{fmt.Sprintf("directory/of/a/name/that/is/long/%08d", i), ""})
	}
	return list
}

// What cannot be read is said, and the rest is seen.
func TestUnread(t *testing.T) {
	whole := zipOf(t, parts{{"secret.txt", "x"}, {"b", mark}})
	locked := []byte(whole)
	at := bytes.Index(locked, []byte("PK\x01\x02"))
	locked[at+8] |= 1 // general purpose flag: encrypted (APPNOTE.TXT, section 4.4.4)
	for name, c := range map[string]struct{ file, want string }{
		"an encrypted member": {string(locked), "it is encrypted: secret.txt"},
		"half a gzip":         {gz(t, strings.Repeat(mark, 1000))[:60], "the gzip is broken"},
		"half a zip":          {whole[:len(whole)/2], "the zip is broken"},
		"only a magic number": {"PK\x03\x04 and then prose", "the zip is broken"},
		"an encrypted pdf":    {"%PDF-1.7\n<< /Encrypt 5 0 R >>\n%%EOF", "it is encrypted"},
	} {
		t.Run(name, func(t *testing.T) {
			_, rep, err := seen(c.file, container.Default)
			require.NoError(t, err)
			require.Contains(t, strings.Join(rep.Unread, "; "), c.want)
		})
	}
	all, _, err := seen(string(locked), container.Default)
	require.NoError(t, err)
	require.Contains(t, all, mark, "the other member is seen")
}

func TestWhoseErrorItIs(t *testing.T) {
	enough := errors.New("enough")
	file := zipOf(t, parts{{"a", "x"}})
	_, err := container.Look(t.Context(), strings.NewReader(file), int64(len(file)), container.Default, func(string, io.Reader) error { return enough })
	require.ErrorIs(t, err, enough)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = container.Look(ctx, strings.NewReader(file), int64(len(file)), container.Default, func(_ string, r io.Reader) error { _, err := io.ReadAll(r); return err })
	require.ErrorIs(t, err, context.Canceled)
	_, rep, err := seen("plain text", container.Default)
	require.NoError(t, err)
	require.Equal(t, container.Report{}, rep)
}

// Whatever the file, the look ends within its bounds.
func FuzzLook(f *testing.F) {
	for _, s := range []string{
		zipOf(f, parts{{"a.xml", "<p>x</p>&amp;"}, {"b.gz", gz(f, "x")}}), tarOf(f, parts{{"a", "x"}}), gz(f, "x"), pdfOf(f, "(a) Tj <41> Tj", "x"),
		"BZh91AY&SY", "\x28\xb5\x2f\xfd\x00\x00", "PK\x05\x06", "%PDF-stream\nendstream stream\r\n",
	} {
		f.Add([]byte(s))
	}
	limits := container.Limits{Depth: 3, Entries: 50, Bytes: 1 << 20, Ratio: 100}
	f.Fuzz(func(t *testing.T, file []byte) {
		var total int64
		_, err := container.Look(t.Context(), bytes.NewReader(file), int64(len(file)), limits, func(_ string, r io.Reader) error {
			n, err := io.Copy(io.Discard, r)
			total += n
			return err
		})
		if err != nil {
			require.ErrorIs(t, err, container.ErrLimit)
		}
		require.LessOrEqual(t, total, 4*limits.Bytes+int64(len(file)))
	})
}
