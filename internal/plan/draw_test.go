package plan

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const hostile = "a\"]]></text><script>alert(1)</script>\\\x00\x1b[2J;--> é & #"

func hostilePlan(t *testing.T) *Plan {
	p := sample(t)
	p.Agent.Name, p.Steps[0].ID, p.Steps[1].Skill = hostile, hostile, hostile
	p.Steps[1].Needs = []string{hostile}
	return p
}

func TestSVGIsWellFormed(t *testing.T) {
	for _, p := range []*Plan{sample(t), hostilePlan(t), {}} {
		dec := xml.NewDecoder(strings.NewReader(SVG(p)))
		names := map[string]int{}
		for {
			tok, err := dec.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			if s, ok := tok.(xml.StartElement); ok {
				names[s.Name.Local]++
			}
		}
		require.Equal(t, len(p.Steps), names["rect"])
		require.Zero(t, names["script"])
	}
}

func TestStepsInTheVMLookDifferent(t *testing.T) {
	p := sample(t)
	require.Equal(t, 1, strings.Count(SVG(p), `class="vm"`))
	require.Equal(t, 1, strings.Count(Dot(p), "peripheries=2"))
	require.Equal(t, 1, strings.Count(Mermaid(p), ":::vm"))
	require.Contains(t, Dot(p), `"count" -> "tell";`)
	require.Contains(t, Mermaid(p), "s0 --> s1")
}

func TestTextCannotLeaveItsPlace(t *testing.T) {
	p := hostilePlan(t)
	for _, line := range strings.Split(Mermaid(p), "\n") {
		require.NotContains(t, strings.ReplaceAll(line, "<br/>", ""), "<", line)
		require.LessOrEqual(t, strings.Count(line, `"`), 2, line)
	}
	for _, line := range strings.Split(Dot(p), "\n") {
		bare := strings.ReplaceAll(strings.ReplaceAll(line, `\\`, ""), `\"`, "")
		require.Zero(t, strings.Count(bare, `"`)%2, line)
	}
}
