package account_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger/account"
)

// Bodies are strangers' words: what is of neither form is told by "", and nothing in them is taken for a form it has not.
func TestTalkOfOtherForms(t *testing.T) {
	for body, want := range map[string]string{
		"": "", "<html>": "", "[1]": "", `{"messages": 7}`: "", `{"messages": [{"role": 7}, null, 3]}`: "\n",
		`{"messages":[{"role":"user","content":"\"role\":\"assistant\""}]}`:               "[user]\n\"role\":\"assistant\"\n",
		`{"messages":[{"role":"assistant","content":"a"},{"role":"tool","content":"b"}]}`: "[tool]\nb\n",
	} {
		require.Equal(t, want, account.Asked([]byte(body)), body)
	}
	for body, want := range map[string]string{
		"": "", "{}": "", "data: \n": "", "data: {\"choices\":7}\n": "", "data: [DONE]\n": "", "data: {\"delta\":{\"text\":\"a\"}}": "a",
	} {
		require.Equal(t, want, account.Told([]byte(body)), body)
	}
}
