package build

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/skill"
)

// Tokens that have a shape are made here so that no scanner takes this file for a leak.
var (
	githubToken = "gh" + "p_" + strings.Repeat("A1b2C3d4E5f6", 3)
	hiddenToken = "gh" + `p_\x41` + githubToken[5:] // as YAML spells it
)

const given = "-- joy.yaml --\nversion: 1\nname: a\nskills: [skills/count]\nsteps: [{id: count, skill: count, with: {text: %s}}]\n%s"

// What goes into the VM besides a bundle, each with the place of the credential in it.
func TestSecretsAreErrorsWithTheirPlace(t *testing.T) {
	plain := fmt.Sprintf(given, "x", "")
	for name, c := range map[string]struct{ text, place, allow string }{
		"a constant":                {fmt.Sprintf(given, githubToken, ""), "joy.yaml:4:48", "file: joy.yaml"},
		"a constant in escapes":     {fmt.Sprintf(given, `"`+hiddenToken+`"`, ""), "joy.yaml:4:48", "file: joy.yaml"},
		"a default of an input":     {plain + "inputs: {type: object, properties: {t: {type: string, default: \"" + hiddenToken + "\"}}}\n", "joy.yaml:5:64", "file: joy.yaml"},
		"what joy.yaml says":        {plain + "description: " + githubToken + "\n", "joy.yaml:5:14", "file: joy.yaml"},
		"the setup script":          {plain + "setup: {run: s.sh}\n-- s.sh --\n#!/bin/sh\nexport T=" + githubToken + "\n", "s.sh:2:10", "file: s.sh"},
		"a file of a bundle":        {plain + "-- skills/count/a.txt --\n\n  " + githubToken + "\n", "skills/count/a.txt:2:3", "file: skills/count/a.txt"},
		"the text of a bundle":      {plain + "-- skills/count/more.md --\n`" + githubToken + "`\n", "skills/count/more.md:1:2", "file: skills/count/more.md"},
		"an argument that is fixed": {plain + "description: x\nconnections: {c: {command: [./c, --token, " + githubToken + "]}}\n-- c --\n", "joy.yaml:6:43", "file: joy.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Build(context.Background(), Options{FS: project(c.text, count)})
			all := fault.All(err)
			require.Len(t, all, 1, "%v", err)
			require.Equal(t, []string{skill.RuleSecret, c.place}, []string{all[0].Code, all[0].Place()})
			require.Contains(t, all[0].Msg, "github-pat")
			require.Contains(t, all[0].Hint, "allow: [{rule: github-pat, "+c.allow)
			require.NotContains(t, err.Error()+all[0].Hint, githubToken[8:])
		})
	}
}

// An entry of allow accepts all secrets of a file, or those of one rule, and is frozen with what it accepts.
func TestAllowOfSecrets(t *testing.T) {
	for rule, ok := range map[string]bool{skill.RuleSecret: true, "github-pat": true, "jwt": false, "JOY-URL": false} {
		allow := "allow: [{rule: " + rule + ", file: skills/count/a.txt, reason: an example}]\n"
		res, err := Build(context.Background(), Options{FS: project(fmt.Sprintf(given, "x", allow), count, "-- skills/count/a.txt --\n"+githubToken+"\n")})
		if !ok {
			require.Error(t, err, rule)
			continue
		}
		require.NoError(t, err, rule)
		require.Empty(t, res.Findings)
		require.Contains(t, string(res.Lock), `"by": "github-pat"`)
		require.NotContains(t, string(res.Lock), githubToken)
		require.Equal(t, rule, res.Plan.Allow[0].Rule)
	}
	for _, allow := range []string{"allow: [{rule: github-pat, file: joy.yaml, reason: r}]\n", "allow: [{rule: JOY-SECRET, file: in/text, reason: r}]\n"} {
		res := build(t, project(fmt.Sprintf(given, "x", allow), count))
		require.Len(t, res.Notes, 1)
		if strings.Contains(allow, "in/text") {
			require.Equal(t, "what JOY-SECRET finds in the input text goes into the VM", res.Notes[0])
		} else {
			require.Contains(t, res.Notes[0], "accepts nothing")
		}
	}
}

// A mark that would be read by nobody is no mark.
func TestMarks(t *testing.T) {
	for inputs, says := range map[string]string{
		"{type: object, properties: {pin: {type: string, x-joy-secret: true}}}":                                "",
		"{type: object, properties: {pin: {type: string, x-joy-secret: false}, x-joy-secret: {type: string}}}": "",
		"{type: object, properties: {pin: {type: string, format: file, x-joy-secret: true}}}":                  "the input pin is a file",
		"{type: object, properties: {who: {type: object, properties: {pin: {x-joy-secret: true}}}}}":           "stands within one",
		"{type: object, properties: {all: {type: array, items: {x-joy-secret: true}}}}":                        "stands within one",
		"{type: object, x-joy-secret: true}":                                                                   "stands within one",
		"{type: object, properties: {pin: {x-joy-secret: true, anyOf: [{type: string, x-joy-secret: true}]}}}": "stands within one",
	} {
		_, err := Build(context.Background(), Options{FS: project(fmt.Sprintf(given, "x", "inputs: "+inputs+"\n"), count)})
		if says == "" {
			require.NoError(t, err, inputs)
			continue
		}
		require.ErrorContains(t, err, says, inputs)
		require.Equal(t, 5, fault.All(err)[0].Line)
	}
}
