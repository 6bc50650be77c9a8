package skill_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/skill"
)

// JoyStream's fields and conventions, in the three forms in which its skills come.
func TestJoyStreamSkills(t *testing.T) {
	writer := `---
name: my-skill
description: Summarize the releases of a GitHub repository as one Slack message for the agent's post step.
license: MIT
compatibility: claude
metadata:
  author: joystream
  version: "1.1"
skill_kind: instruction
input_schema:
  type: object
  required: [releases]
  properties:
    releases:
      type: array
      description: What the step before read — newest first.
      items: { type: object }
output_schema:
  type: object
  required: [text]
  properties: {text: {type: string}}
---

# Purpose

Write one message and post it to one Slack channel: the agent does that. **This skill makes no calls itself.**

# What this skill needs

1. **Read releases.** Service: GitHub. Lists releases on GitHub.
2. **Post the message.** Service: Slack. Use Slack's tool. Some Slack tools differ.

# Constraints

- **No tool calls.** Never call a tool.

# Examples

` + "```\n*New*\n• Plans are there.\n```\n"

	worker := `---
name: my-skill
description: Diagnose one alert with a few read-only calls and post ONE diagnosis in its Slack thread.
allowed_tools:
  # The connector's own action ids.
  - railway.get_deployment_logs
  - slack.reply_message
input_schema:
  type: object
  properties:
    event: { type: object }
---

# Steps

1. **Read the event.** Find the data.
2. Call ` + "`slack.reply_message` with `{channelId: data.channel, text}`" + `.
`

	driver := `---
name: my-skill
description: Ship an agent through the JoyStream MCP server, and stop for approval before every run.
---

# Before you start

- The JoyStream MCP server must be connected. If not, ` + "`jstm mcp client-config --client x`" + ` prints the set-up.
- Read ` + "`joystream://docs/lifecycle`" + ` once.

# Steps

1. **Build**: ` + "`build_agent(agent)`, then `wait_for_build(agent, build)`" + `. Fix every error in the spec.
2. ` + "`run_agent(agent)`" + ` returns a summary; show it.
`
	cases := []struct {
		name, text string
		tools      []skill.Need
		network    []skill.Need
	}{
		{"writes between calls", writer, nil, nil},
		{"calls actions", worker, []skill.Need{{"railway", "action"}, {"slack", "action"}}, []skill.Need{{"", "api"}}},
		{"drives a server", driver, []skill.Need{{"joystream", "mcp"}}, []skill.Need{{"", "api"}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := load(t, bundleFS("SKILL.md", c.text))
			require.Empty(t, b.Findings)
			n := b.Needs()
			require.False(t, n.Sandbox, "%v", n.Evidence)
			require.Equal(t, c.tools, n.Tools, "%v", n.Evidence)
			require.Equal(t, c.network, n.Network)
		})
	}
	b := load(t, bundleFS("SKILL.md", writer))
	require.Equal(t, skill.Instruction, b.SkillKind)
	require.JSONEq(t, `{"type":"object","required":["text"],"properties":{"text":{"type":"string"}}}`, string(b.OutputSchema))
}
