// Package docs_test holds the pages to the code: links lead somewhere, lists are complete, worked examples work.
package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// pages are all pages of the repository that a person is led to, relative to this directory.
func pages(t *testing.T) []string {
	t.Helper()
	list := []string{"../README.md", "../CONTRIBUTING.md", "../CHANGELOG.md"}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && d.Name() == "testdata" {
			return fs.SkipDir
		}
		if err == nil && filepath.Ext(path) == ".md" {
			list = append(list, path)
		}
		return err
	})
	require.NoError(t, err)
	return list
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

var (
	fence   = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	code    = regexp.MustCompile("`[^`\n]*`")
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} +(.+)$`)
)

func TestLinks(t *testing.T) {
	for _, page := range pages(t) {
		text := code.ReplaceAllString(fence.ReplaceAllString(read(t, page), ""), "")
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(found[1], "#")
			if strings.Contains(target, ":") {
				continue // another site
			}
			file := page
			if target != "" {
				file = filepath.Join(filepath.Dir(page), filepath.FromSlash(target))
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: %s leads nowhere", page, found[1])
			} else if anchor != "" && !anchors(read(t, file))[anchor] {
				t.Errorf("%s: %s has no such heading", page, found[1])
			}
		}
	}
}

// anchors are what GitHub calls the headings of a page.
func anchors(text string) map[string]bool {
	set := map[string]bool{}
	for _, h := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		set[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(h[1]))] = true
	}
	return set
}

// TestIndex holds that the index names every page.
func TestIndex(t *testing.T) {
	index := read(t, "README.md")
	for _, page := range pages(t) {
		if !strings.HasPrefix(page, "..") && page != "README.md" {
			require.Contains(t, index, "]("+filepath.ToSlash(page)+")")
		}
	}
}

// sources calls fn for every Go file of joy.
func sources(t *testing.T, fn func(path string, file *ast.File)) {
	t.Helper()
	for _, top := range []string{"../cmd", "../internal"} {
		err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
			if err == nil {
				fn(path, file)
			}
			return err
		})
		require.NoError(t, err)
	}
}

var mention = regexp.MustCompile(`(?:^|[\s("'])(docs/[\w./-]*\w)`)

func TestMentions(t *testing.T) {
	seen := 0
	sources(t, func(path string, file *ast.File) {
		for _, group := range file.Comments {
			for _, m := range mention.FindAllStringSubmatch(group.Text(), -1) {
				seen++
				if _, err := os.Stat(filepath.Join("..", filepath.FromSlash(m[1]))); err != nil {
					t.Errorf("%s speaks of %s, which is not there", path, m[1])
				}
			}
		}
	})
	require.NotZero(t, seen, "the test no longer finds what it looks for")
}
