package secret

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOriginOfURL(t *testing.T) {
	for _, bad := range []string{"", "mcp.example.com", "ftp://a.com", "https://", "https:a.com", "file:///etc/passwd", "//a.com", "https://a.com:x"} {
		_, err := OriginOfURL(bad)
		require.Error(t, err, bad)
	}
	for text, want := range map[string]string{
		"https://mcp.example.com":               "https://mcp.example.com:443",
		"HTTPS://MCP.example.com./drive?x=1#y":  "https://mcp.example.com:443",
		"https://user:pw@mcp.example.com:8443/": "https://mcp.example.com:8443",
		"http://[::1]:8080/mcp":                 "http://[::1]:8080",
	} {
		o, err := OriginOfURL(text)
		require.NoError(t, err)
		require.Equal(t, want, o.String())
	}
}

func TestOriginEqual(t *testing.T) {
	url := func(s string) Origin {
		o, err := OriginOfURL(s)
		require.NoError(t, err)
		return o
	}
	command := OriginOfCommand("/p", []string{"npx", "x"})
	for _, other := range []Origin{
		{}, url("http://a.com"), url("https://a.com:8443"), url("https://b.a.com"), url("https://a.com.evil.org"), command,
	} {
		require.False(t, url("https://a.com").Equal(other), other.String())
	}
	for _, other := range []Origin{
		{}, OriginOfCommand("/q", []string{"npx", "x"}), OriginOfCommand("/p", []string{"npx", "x", "y"}), OriginOfCommand("/p", []string{"npx x"}),
	} {
		require.False(t, command.Equal(other), other.String())
	}
	require.False(t, Origin{}.Equal(Origin{}), "nothing may go nowhere")
	require.True(t, url("https://a.com/x").Equal(url("https://A.com:443/y")))
	require.True(t, command.Equal(OriginOfCommand("/p/", []string{"npx", "x"})))
	require.Equal(t, `["npx","x"] in /p`, command.String())
}
