//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/model/modeltest"
)

// said is every stream of a record with the pieces of each string in it put together: texts, and arguments as they are and as what
// they say.
func said(bodies []string) (list []string) {
	for _, body := range bodies {
		joined := map[string]string{}
		for line := range strings.Lines(body) {
			data, ok := strings.CutPrefix(line, "data: ")
			var e any
			if ok && json.Unmarshal([]byte(data), &e) == nil {
				gather(e, "", joined)
			}
		}
		for _, text := range joined {
			list = append(list, text)
			var args map[string]any
			if json.Unmarshal([]byte(text), &args) == nil {
				list = append(list, fmt.Sprint(args))
			}
		}
	}
	return list
}

// gather adds each string of an event to what stood at its place before.
func gather(v any, place string, joined map[string]string) {
	switch v := v.(type) {
	case string:
		joined[place] += v
	case []any:
		for _, e := range v {
			gather(e, place, joined)
		}
	case map[string]any:
		for key, e := range v {
			gather(e, fmt.Sprint(place, ".", key, v["index"]), joined)
		}
	}
}

// Values that the scrubber must know: one that joy was told, with what JSON spells otherwise, and two that a rule finds, one of
// them by the quotes around it.
var (
	toldPin = `4711"é\<pin>&more`
	patLike = "gh" + "p_" + strings.Repeat("A1b2C3d4E5f6", 3)
	keyLike = "k9" + "Zx81kdPq93nVbT20sLm4Wq"
)

// nowhere holds that no file of the project's state, nor what its streams are when they are put together, has a value.
func nowhere(t *testing.T, b *bench, values ...string) {
	t.Helper()
	files := everything(t, b.dir)
	require.NotEmpty(t, said(files), "there are streams on record")
	for _, place := range append(files, said(files)...) {
		for _, v := range values {
			spelled, err := json.Marshal(v)
			require.NoError(t, err)
			require.NotContains(t, place, v)
			require.NotContains(t, place, strings.Trim(string(spelled), `"`))
		}
	}
}

// A model says secrets letter by letter, in its words, its answer and the scripts it asks for. It works with what it said, and is
// asked on with that; the record has none of it, and a replay from the record is the same.
func TestModelSaysSecretsInPieces(t *testing.T) {
	needVM(t)
	script := fmt.Sprintf("set -e\nmkdir -p out\nexport API_TOKEN=%q\nprintf 'api_token = \"%%s\"\\n%s\\n' \"$API_TOKEN\" | tee out/token.txt", keyLike, patLike)
	for provider := range wires {
		t.Run(provider, func(t *testing.T) {
			b, s := modelProject(t, provider, modeltest.Script(
				modeltest.Reply{Piece: 3, Text: "I take " + patLike + ".", Calls: []modeltest.Call{
					call("run", map[string]any{"script": script}), call("write_file", map[string]any{"path": "out/conf", "content": "api_token = \"" + keyLike + "\"\n"}),
				}},
				modeltest.Reply{Piece: 1, Text: "The token is " + patLike},
				modeltest.Reply{Piece: 2, Text: `{"rows": 3, "note": "export API_TOKEN=\"` + keyLike + `\""}`},
			), "")
			code, stdout, stderr := b.run("run", "--jsonl", "--input", "data=@data.csv")
			require.Zero(t, code, stderr)
			asked := s.Requests()
			require.Len(t, asked, 3)
			require.Contains(t, string(asked[2].Body), patLike, "the model is told what it said as it said it")
			for _, e := range only(b.ledger(), "model.replied") {
				require.Equal(t, true, e.Data["response"].(map[string]any)["scrubbed"])
			}
			nowhere(t, b, patLike, keyLike)
			require.NotContains(t, stdout+stderr, patLike)

			code, stdout, stderr = b.run("replay", "latest")
			require.Zero(t, code, "%s%s", stdout, stderr)
			require.Equal(t, "same: 1/1 steps, 2/2 artifacts\n", stdout)
			nowhere(t, b, patLike, keyLike)
		})
	}
}

// A value that joy was told of, in an answer that comes in pieces of any size, also when the answer breaks off.
func TestModelSaysAToldSecretInPieces(t *testing.T) {
	for provider, serve := range wires {
		for n := 1; n <= len(toldPin); n += 4 {
			t.Run(fmt.Sprintf("%s/%d", provider, n), func(t *testing.T) {
				title, err := json.Marshal(map[string]string{"title": toldPin})
				require.NoError(t, err)
				s := serve(t, modeltest.Script(
					modeltest.Reply{Piece: n, Text: "Hm, " + toldPin + toldPin, Calls: []modeltest.Call{{Name: toldPin, Input: string(title)}}},
					modeltest.Reply{Piece: n, Text: "Cut: " + toldPin, Cut: true},
					modeltest.Reply{Piece: n, Text: string(title)},
				))
				b := newProject(t, map[string]string{
					"skills/title/SKILL.md": titleSkill,
					"joy.yaml": fmt.Sprintf("version: 1\nname: words\nimage: tiny\ninputs: {type: object, required: [pin], properties: {pin: {type: string, x-joy-secret: true}}}\n"+
						"model: {provider: %s, name: test-1, key: \"secret:vendor\", base_url: %q}\nskills: [skills/title]\nsteps: [{id: title, skill: title, with: {pin: \"${{ inputs.pin }}\"}}]\n", provider, s.URL),
				})
				b.env = append(b.env, "JOY_SECRET_VENDOR="+modeltest.Key)
				b.allow()
				code, stdout, stderr := b.run("build")
				require.Zero(t, code, "%s%s", stdout, stderr)
				code, stdout, stderr = b.run("run", "--jsonl", "--input", "pin="+toldPin)
				require.Zero(t, code, stderr)
				require.Len(t, s.Requests(), 3)
				nowhere(t, b, toldPin)
				require.NotContains(t, stdout+stderr, toldPin)
				b.verifies(0)
			})
		}
	}
}
