package broker

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
)

// One call or one open thing too many closes the step's door for good, and the step is told why.
func TestTooMuchClosesTheDoor(t *testing.T) {
	for name, tc := range map[string]struct {
		full func(*account)
		want error
	}{
		"calls":         {func(a *account) { a.calls = maxCalls }, errCalls},
		"open at once":  {func(a *account) { a.streams = maxStreams }, errStreams},
		"denied calls":  {func(a *account) { a.denials = maxDenials - 1; a.used["crm.look"] = 1 }, errDenials},
		"not yet one":   {func(a *account) { a.calls = maxCalls - 1 }, nil},
		"not yet at it": {func(a *account) { a.streams = maxStreams - 1 }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			h, u := crm(t)
			c := h.caller(t, grants[1])
			var told []error
			a := h.account("tell")
			a.begin(func(why error) { told = append(told, why) })
			tc.full(a)
			granted := grants[1]
			granted.MaxCalls = 1
			g := &grant{step: "tell", terms: Terms{Limit: time.Minute}}
			_, err := h.callFor(t.Context(), g, "", granted, nil)
			a.streams = 0 // nothing waits for what the test made up
			if tc.want == nil {
				require.NoError(t, err)
				require.Empty(t, told)
				return
			}
			require.Error(t, err)
			require.Equal(t, []error{tc.want}, told)
			require.Equal(t, fault.Policy, fault.KindOf(err))
			require.Empty(t, u.Calls())
			status, _ := c.do(t, "POST", "/v1/call", `{"action":"crm.look"}`)
			require.Equal(t, http.StatusUnauthorized, status)
			require.Len(t, told, 1)
		})
	}
}

// Whatever a caller sends, what is sent on is one object that holds what it gave and what the plan fixes, and the
// latter as the plan has it.
func FuzzFix(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":1}`, `{"to":1}`, ` { "t\u006f" : 2 } `, `{"to":1,"to":2}`, `[`, `{"a":{"to":1}}`, "{\"\xff\":1}", `null`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, args []byte) {
		const fixed = `{"to":9007199254740993}`
		out, err := fix(args, json.RawMessage(fixed))
		if err != nil {
			return
		}
		_, err = digest.CanonicalText(out)
		require.NoError(t, err, "%q", out)
		var got map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(out, &got))
		require.Equal(t, "9007199254740993", string(got["to"]))
		own, err := readObject(orEmpty(args))
		require.NoError(t, err)
		require.Len(t, got, len(own)+1)
	})
}
