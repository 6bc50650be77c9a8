package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheckAddress(t *testing.T) {
	for address, want := range map[string]string{
		"https://api.example.com":         "",
		"https://api.example.com:8443/v1": "",
		"http://localhost:11434/v1":       "",
		"http://127.0.0.1/v1":             "",
		"http://[::1]:1/v1":               "",
		"":                                "not a URL",
		"api.example.com":                 "not a URL",
		"https:api.example.com":           "not a URL",
		"https://":                        "not a URL",
		"https://%zz":                     "not a URL",
		"https://u:p@example.com":         "user or password",
		"https://u@example.com":           "user or password",
		"https://example.com/?k=v":        "query or a fragment",
		"https://example.com/#f":          "query or a fragment",
		"http://example.com/v1":           "must be https",
		"http://localhost.example.com":    "must be https",
		"http://127.0.0.1.example.com/":   "must be https",
		"http://169.254.169.254/":         "must be https",
		"ftp://localhost/":                "must be https",
		"file://localhost/etc/passwd":     "must be https",
		"https+unix://localhost/socket":   "must be https",
	} {
		err := CheckAddress(address)
		if want == "" {
			require.NoError(t, err, address)
			continue
		}
		require.ErrorContains(t, err, want, address)
	}
}
