package secret_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/secret"
)

// No way of printing shows a value, wherever in a struct it lies.
func TestValueIsNeverShown(t *testing.T) {
	v := secret.NewValue([]byte("hunter2hunter2"))
	set := secret.NewSet()
	require.NoError(t, set.Add("password", []byte("hunter2hunter2")))
	type holder struct {
		Public  secret.Value
		private secret.Value
		set     *secret.Set
	}
	h := holder{v, v, set}
	for _, x := range []any{v, &v, set, h, &h, []secret.Value{v}, map[string]secret.Value{"a": v}, fmt.Errorf("send: %v", v)} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%o", "%c", "%U"} {
			shown := fmt.Sprintf(verb, x)
			for _, form := range []string{"hunter2", "68756e746572", "68 75", "104 117", "0x68, 0x75", "hunter2hunter2"} {
				require.NotContains(t, shown, form, "%s of %T", verb, x)
			}
		}
	}
	b, err := json.Marshal(h)
	require.NoError(t, err)
	require.JSONEq(t, `{"Public":"[REDACTED]"}`, string(b))
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "value", v)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "value", v, "set", set)
	require.NotContains(t, log.String(), "hunter2")

	require.Equal(t, "hunter2hunter2", string(v.Bytes()))
	require.Empty(t, secret.Value{}.Bytes())
}
