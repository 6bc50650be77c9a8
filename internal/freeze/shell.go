package freeze

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// parse reads a script as bash does. An error is no verdict on the script: bash takes more than that.
func parse(text string) (*syntax.File, error) {
	return syntax.NewParser(syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
}

// closed says whether a script can be put between parentheses: nothing in it reaches beyond its own end.
func closed(text string) bool {
	_, err := parse("(\n" + text + "\n)")
	if err != nil {
		return false
	}
	f, err := parse(text)
	if err != nil || strings.HasSuffix(text, `\`) {
		return false
	}
	reaches := false
	syntax.Walk(f, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 && slices.Contains(reaching, c.Args[0].Lit()) {
			reaches = true
		}
		return !reaches
	})
	return !reaches
}

// reaching are commands that mean another thing between parentheses. At the top of a script return is an error, after which bash -c
// goes on; the others change how bash reads the lines that come, and all between parentheses is read before any of it is run.
var reaching = []string{"return", "shopt", "alias", "unalias"}

// lookers are programs that change nothing, given any arguments.
var lookers = []string{
	"ls", "cat", "head", "tail", "wc", "file", "stat", "grep", "egrep", "fgrep", "rg", "pwd", "printenv", "echo", "printf", "which", "type",
	"du", "df", "test", "[", "true", ":", "cut", "tr", "nl", "od", "hexdump", "diff", "cmp", "md5sum", "sha256sum", "basename", "dirname",
	"realpath", "readlink", "uname", "id", "whoami", "jq", "column", "cd",
}

// looks says whether a script only looks around: every command in it is known to change nothing, and nothing is written.
// What it cannot tell, it takes for a deed.
func looks(text string) bool {
	f, err := parse(text)
	if err != nil {
		return false
	}
	only := true
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			only = only && (len(n.Args) == 0 || slices.Contains(lookers, n.Args[0].Lit()))
		case *syntax.Redirect:
			only = only && harmless(n)
		case *syntax.FuncDecl, *syntax.CoprocClause:
			only = false
		}
		return only
	})
	return only
}

// harmless says whether a redirection writes nothing.
func harmless(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.RdrIn, syntax.DplIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return true
	case syntax.DplOut: // to another word than a number, it writes a file
		return strings.Trim(r.Word.Lit(), "0123456789-") == "" && r.Word.Lit() != ""
	}
	return r.Word.Lit() == "/dev/null"
}

// quote is a text as one word of the shell.
func quote(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(c rune) bool { return !plain(c) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// plain characters mean nothing to the shell, nor to the programs that it starts.
func plain(c rune) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.ContainsRune("._/:@%+-", c)
}

// delimiter ends a here-document: no line of the text is it.
func delimiter(text string) string {
	lines := strings.Split(text, "\n")
	for n := 0; ; n++ {
		end := "END"
		if n > 0 {
			end = fmt.Sprintf("END%d", n)
		}
		if !slices.Contains(lines, end) {
			return end
		}
	}
}

func folded(b []byte) string {
	text := base64.StdEncoding.EncodeToString(b)
	var lines []string
	for len(text) > 76 {
		lines, text = append(lines, text[:76]), text[76:]
	}
	return strings.Join(append(lines, text), "\n")
}
