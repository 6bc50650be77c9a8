package export

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/joystream-ai/joy/internal/ledger/verify"
)

// table is CSV as RFC 4180 has it, with a head, lines that end in CRLF and a row for each entry.
var table = Format{
	Name: "csv", About: "a row for each entry, safe to open in a spreadsheet",
	Open: func(w io.Writer, run Run) (Writer, error) {
		t := &tableWriter{w: csv.NewWriter(w), report: run.Report}
		t.w.UseCRLF = true
		return t, t.w.Write(Columns)
	},
}

// Columns is the head of the table. seq, of, exit, bytes and ms are integers or empty; time is RFC 3339 in UTC; digest and
// hash begin with "sha256:"; the others are text of strangers and went through Cell.
var Columns = []string{"seq", "time", "run", "type", "step", "what", "result", "exit", "bytes", "ms", "of", "digest", "hash"}

// markIncomplete is the type of the last row when the ledger is incomplete. It is no type of entry.
const markIncomplete = "ledger.incomplete"

type tableWriter struct {
	w      *csv.Writer
	report verify.Report
}

func (t *tableWriter) Add(e verify.Entry) error {
	what, result := said(e)
	err := t.w.Write([]string{
		strconv.FormatInt(e.Seq, 10), stamp(e.Time), Cell(e.Run), e.Type, Cell(e.Step), Cell(what), Cell(result),
		number(e.Data, "exit"), size(e), number(e.Data, "ms"), number(e.Data, "of"), Cell(digestOf(e)), e.Hash,
	})
	if err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}

func (t *tableWriter) Close() error {
	if t.report.State == verify.Incomplete {
		row := make([]string, len(Columns))
		row[2], row[3], row[5] = Cell(t.report.Run), markIncomplete, Cell(t.report.Problem)
		if err := t.w.Write(row); err != nil {
			return fmt.Errorf("write the table: %w", err)
		}
	}
	t.w.Flush()
	return t.w.Error()
}

// subjects are the members that say what an entry is about, the first that there is; results how it ended or why.
var (
	subjects = []string{
		"command", "action", "name", "host", "skill", "secret", "path", "model", "token", "agent", "provider", "script", "kind", "to",
	}
	results = []string{"outcome", "status", "ended_by", "error", "reason", "by", "signal", "start", "stop", "in"}
)

// said is what an entry is about and how that went.
func said(e verify.Entry) (what, result string) {
	what = first(e.Data, subjects)
	if port := number(e.Data, "port"); port != "" && what != "" {
		what += ":" + port
	}
	result = first(e.Data, results)
	if failed, ok := e.Data["failed"].(bool); ok && failed && result == "" {
		result = "failed"
	}
	if reason := first(e.Data, []string{"error", "reason"}); reason != "" && reason != result {
		result += ": " + reason
	}
	return what, result
}

// first is the text of the first of these members that is there.
func first(data map[string]any, names []string) string {
	for _, name := range names {
		switch v := data[name].(type) {
		case string:
			if v != "" {
				return v
			}
		case map[string]any: // a file: its path
			if path, ok := v["path"].(string); ok {
				return path
			}
		}
	}
	return ""
}

// bodies are members that are {bytes, sha256}, the one that says most first.
var bodies = []string{"stdout", "output", "result", "arguments", "input", "response", "request"}

// size is the bytes that an entry names: its own, or those of the first body.
func size(e verify.Entry) string {
	if n := number(e.Data, "bytes"); n != "" {
		return n
	}
	for _, name := range bodies {
		if m, ok := e.Data[name].(map[string]any); ok {
			return number(m, "bytes")
		}
	}
	return ""
}

// digestOf is the digest of what size counts, or of what the entry pins.
func digestOf(e verify.Entry) string {
	if s := first(e.Data, []string{"sha256", "image", "bundle", "plan"}); s != "" {
		return s
	}
	for _, name := range bodies {
		if m, ok := e.Data[name].(map[string]any); ok {
			return first(m, []string{"sha256"})
		}
	}
	return first(e.Data, []string{"tool", "digest"})
}

func number(data map[string]any, name string) string {
	if n, ok := data[name].(int64); ok {
		return strconv.FormatInt(n, 10)
	}
	return ""
}
