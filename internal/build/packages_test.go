package build

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommandsThatStartOneVersion(t *testing.T) {
	sha := "@sha256:" + strings.Repeat("a", 64)
	for _, command := range []string{
		"", "node server.js", "./bin/sales-mcp", "npm start", "uv run server.py", "python3 -m server latest",
		"npx -y server-x@1.2.3", "npx --yes @scope/server-x@1.2.3-beta.1 --root . @latest", "/usr/bin/npx -y a@0.0.1", `C:\node\npx.cmd -y a@1.2.3`,
		"npx -y -p server-x@1.2.3 server-x", "npx --package=server-x@1.2.3 -- run it", "npx -y --registry https://r.example.com a@1.2.3",
		"npm exec -y -- a@1.2.3", "pnpm dlx a@1.2.3", "bunx a@1.2.3",
		"uvx server-y==1.2", "uvx server-y[cli]@1.2.3", "uvx --from server-y==1.2.3rc1 serve --port 1", "uvx --with extra==1.0 a==2", "uv tool run a==1.0.post1",
		"pipx run a==1.0", "pipx run --spec a==1.0 serve",
		"docker run -i --rm -e TOKEN mcp/server:1.2" + sha, "podman run registry.example.com:5000/a/b" + sha + " serve latest",
	} {
		require.NoError(t, pinned(strings.Fields(command)), command)
	}
}

func TestCommandsThatMayStartAnotherProgramTomorrow(t *testing.T) {
	for command, want := range map[string]string{
		"npx server-x":                         "server-x has no version, so it may be another program tomorrow; write npx -y server-x@1.2.3",
		"npx -y @scope/server-x":               "write npx -y @scope/server-x@1.2.3",
		"npx -y a@latest":                      "a@latest is no exact version",
		"npx -y a@^1.2.3":                      "no exact version",
		"npx -y a@1.2":                         "no exact version",
		"npx -y a@1.x":                         "no exact version",
		"npx -y a@1.2.3||2":                    "no exact version",
		"npx -y a@npm:b@1.2.3":                 "no exact version",
		"npx -y github:a/b":                    "is no name and exact version",
		"npx -y ./server":                      "is no name and exact version",
		"npx -y https://x.example.com/a.tgz":   "is no name and exact version",
		"npx":                                  "names no package",
		"npx -y":                               "names no package",
		"npx -y --":                            "names no package",
		"npx -p":                               "names no package",
		"npx -p a serve":                       "a has no version",
		"npx -p a@1.2.3 -p b serve":            "b has no version",
		"npx -c serve a@1.2.3":                 "does not know the flag -c",
		"npx --userconfig a@1.2.3 evil":        "does not know the flag --userconfig",
		"pnpm dlx a":                           "a has no version",
		"npm exec a":                           "a has no version",
		"uvx server-y":                         "write server-y==1.2.3",
		"uvx server-y@latest":                  "no exact version",
		"uvx server-y==1.*":                    "no exact version",
		"uvx --from git+https://x/y serve":     "is no name and exact version",
		"uvx --with extra a==1.0":              "extra is no exact version",
		"uvx --with extra==1.0 a":              "a is no exact version",
		"uvx a>=1.0":                           "is no name and exact version",
		"uv tool run a":                        "no exact version",
		"pipx run a":                           "no exact version",
		"docker run -i mcp/server":             "write mcp/server@sha256:…",
		"docker run -i mcp/server:1.2.3":       "a tag may be another image",
		"docker run mcp/server@sha256:abc":     "is no digest",
		"docker run --newflag x@sha256:" + "a": "does not know the flag --newflag",
		"docker compose up":                    "cannot tell which image",
		"docker":                               "cannot tell which image",
	} {
		require.ErrorContains(t, pinned(strings.Fields(command)), want, command)
	}
}
