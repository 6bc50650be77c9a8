package replay_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/replay"
)

// packed is the record of past as a file, with the bodies that it needs.
func packed(t testing.TB) (file []byte, needs []string, bodies store) {
	t.Helper()
	text, s := past(t)
	parts := replay.Parts{Ledger: text, Lock: []byte("{}")}
	needs, err := replay.Needs(parts, &plan.Plan{})
	require.NoError(t, err)
	require.Len(t, needs, 6)
	var out, again bytes.Buffer
	require.NoError(t, replay.Write(&out, parts, needs, s.open))
	require.NoError(t, replay.Write(&again, parts, needs, s.open))
	require.Equal(t, out.Bytes(), again.Bytes(), "the same bytes from the same record")
	return out.Bytes(), needs, s
}

// unpack reads a file whose plan names no file, and counts what it kept.
func unpack(file []byte) (replay.Parts, store, error) {
	kept := store{}
	parts, err := replay.Unpack(bytes.NewReader(file), func(p replay.Parts) ([]string, error) {
		return replay.Needs(p, &plan.Plan{})
	}, func(name string, b []byte) error { kept[name] = b; return nil })
	return parts, kept, err
}

func TestARecordFileIsReadBack(t *testing.T) {
	file, _, bodies := packed(t)
	parts, kept, err := unpack(file)
	require.NoError(t, err)
	require.Equal(t, members(t, file)[0].body, string(parts.Ledger))
	require.Equal(t, bodies, kept)
}

// member is one file of an archive. A Header with a size needs no body as long.
type member struct {
	tar.Header
	body string
}

func members(t *testing.T, file []byte) []member {
	t.Helper()
	zr, err := gzip.NewReader(bytes.NewReader(file))
	require.NoError(t, err)
	var list []member
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if err != nil {
			return list
		}
		b, err := io.ReadAll(tr)
		require.NoError(t, err)
		list = append(list, member{tar.Header{Name: h.Name, Typeflag: h.Typeflag, Mode: 0o600, Size: h.Size}, string(b)})
	}
}

func archive(t *testing.T, list ...member) []byte {
	t.Helper()
	var out bytes.Buffer
	zw := gzip.NewWriter(&out)
	tw := tar.NewWriter(zw)
	for _, m := range list {
		require.NoError(t, tw.WriteHeader(&m.Header))
		_, err := io.WriteString(tw, m.body)
		require.NoError(t, err)
	}
	require.NoError(t, tw.Close())
	require.NoError(t, zw.Close())
	return out.Bytes()
}

func plainFile(name, body string) member {
	return member{tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(body))}, body}
}

// withHoles is a file with holes as GNU tar writes it in the format of POSIX: a few bytes of the archive stand for size.
func withHoles(size int64) []byte {
	padded := func(s string) []byte { return append([]byte(s), make([]byte, 511-(len(s)-1)%512)...) }
	body := padded("1\n0\n1\nx")
	records := ""
	for key, v := range map[string]string{
		"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "ledger.jsonl", "GNU.sparse.realsize": strconv.FormatInt(size, 10),
	} {
		line := " " + key + "=" + v + "\n"
		n := len(line) + 2
		if n > 99 {
			n++
		}
		records += strconv.Itoa(n) + line
	}
	var out bytes.Buffer
	zw := gzip.NewWriter(&out)
	for _, m := range []struct {
		name string
		typ  byte
		body []byte
	}{{"pax", 'x', []byte(records)}, {"GNUSparseFile.0/x", '0', body}} {
		var one bytes.Buffer
		tw := tar.NewWriter(&one)
		_ = tw.WriteHeader(&tar.Header{Name: m.name, Typeflag: tar.TypeReg, Size: int64(len(m.body)), Format: tar.FormatUSTAR})
		block := one.Bytes()[:512]
		block[156] = m.typ
		sum := 0
		copy(block[148:], "        ")
		for _, c := range block {
			sum += int(c)
		}
		copy(block[148:], strings.Repeat("0", 6-len(strconv.FormatInt(int64(sum), 8)))+strconv.FormatInt(int64(sum), 8)+"\x00 ")
		_, _ = zw.Write(block)
		_, _ = zw.Write(padded(string(m.body)))
	}
	_, _ = zw.Write(make([]byte, 1024))
	_ = zw.Close()
	return out.Bytes()
}

// Of a file that is not exactly a record, nothing is kept.
func TestOtherFilesAreRefused(t *testing.T) {
	file, needs, bodies := packed(t)
	list := members(t, file)
	swapped := append([]member{}, list...)
	swapped[3], swapped[4] = swapped[4], swapped[3]
	link := member{tar.Header{Name: "ledger.jsonl", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, ""}
	changed := append([]member{}, list...)
	changed[5] = plainFile(changed[5].Name, "another answer")
	for name, c := range map[string]struct {
		file []byte
		says string
	}{
		"no archive":           {[]byte("no archive"), "this is no record of a run"},
		"nothing":              {nil, "this is no record of a run"},
		"cut":                  {file[:len(file)/2], "this is no record of a run"},
		"a body that differs":  {archive(t, changed...), "is not what its name says"},
		"a body less":          {archive(t, list[:len(list)-1]...), "it ends before objects/"},
		"no lock":              {archive(t, list[0], list[1], list[3]), "where joy.lock has to be"},
		"in another order":     {archive(t, swapped...), "where objects/"},
		"one twice":            {archive(t, append(list, list[3])...), "more than its ledger names"},
		"one that is not due":  {archive(t, append(list, plainFile("objects/"+strings.Repeat("0", 64), "x"))...), "more than its ledger names"},
		"a path that escapes":  {archive(t, append(list[:3:3], plainFile("objects/../../x", "x"))...), "where objects/"},
		"a link":               {archive(t, link), "is no file of a record"},
		"holes":                {withHoles(60 << 20), "is no file of a record"},
		"a file of 65 MiB":     {archive(t, plainFile("ledger.jsonl", strings.Repeat("0", 65<<20))), "is no file of a record"},
		"more after the end":   {append(bytes.Clone(file), file...), ""},
		"a ledger that is cut": {archive(t, plainFile("ledger.jsonl", list[0].body[:200]), list[1], list[2]), "the record is incomplete"},
	} {
		t.Run(name, func(t *testing.T) {
			_, kept, err := unpack(c.file)
			if c.says == "" { // of what follows an archive, tar reads nothing
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.says)
			require.Empty(t, kept)
		})
	}
	bodies[needs[0]] = bytes.Repeat([]byte("x"), 64<<20+1)
	err := replay.Write(io.Discard, replay.Parts{}, needs, bodies.open)
	require.ErrorContains(t, err, "too much for a record file")
	require.Equal(t, fault.Input, fault.KindOf(err))
}

// Whatever a file is, it is refused, or exactly what the record names is kept.
func FuzzUnpack(f *testing.F) {
	file, _, _ := packed(f)
	f.Add(file)
	f.Add(file[:len(file)-20])
	f.Add(withHoles(1 << 20))
	plain, err := gzip.NewReader(bytes.NewReader(file))
	require.NoError(f, err)
	raw, err := io.ReadAll(plain)
	require.NoError(f, err)
	f.Add(raw) // packed by the target, so that what is changed is not the compression
	f.Fuzz(func(t *testing.T, b []byte) {
		if !bytes.HasPrefix(b, []byte{0x1f, 0x8b}) {
			var out bytes.Buffer
			zw, _ := gzip.NewWriterLevel(&out, gzip.NoCompression)
			_, _ = zw.Write(b)
			_ = zw.Close()
			b = out.Bytes()
		}
		parts, kept, err := unpack(b)
		if err != nil {
			require.NotEqual(t, fault.Platform, fault.KindOf(err), err.Error())
			require.Empty(t, kept)
			return
		}
		needs, err := replay.Needs(parts, &plan.Plan{})
		require.NoError(t, err)
		require.Len(t, kept, len(needs))
		for name, body := range kept {
			require.Equal(t, name, digest.Bytes(body))
		}
		_, err = replay.Read(bytes.NewReader(parts.Ledger), kept.open)
		require.NoError(t, err)
	})
}
