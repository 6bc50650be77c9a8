//go:build linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

var told = regexp.MustCompile(`(?m)^(?:\[[^]]+\] )*exits (\d+) joy `)

// TestEveryExitCodeIsTold holds that each code of joy help exit-codes ends a story, or a run in TestSignalEndsRun.
func TestEveryExitCodeIsTold(t *testing.T) {
	stories, err := filepath.Glob("../../testdata/script/*.txtar")
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, story := range stories {
		body, err := os.ReadFile(story)
		require.NoError(t, err)
		for _, m := range told.FindAllStringSubmatch(string(body), -1) {
			seen[m[1]] = true
		}
	}
	for _, code := range signalCodes {
		seen[strconv.Itoa(code)] = true
	}
	cmd := exec.CommandContext(t.Context(), "joy", "help", "exit-codes", "--json")
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	out, err := cmd.Output()
	require.NoError(t, err)
	var doc struct {
		Codes []struct {
			Code string `json:"code"`
		} `json:"exit_codes"`
	}
	require.NoError(t, json.Unmarshal(out, &doc), "%s", out)
	require.Len(t, doc.Codes, 12)
	for _, c := range doc.Codes {
		require.True(t, seen[c.Code], "no story ends with %s", c.Code)
	}
}
