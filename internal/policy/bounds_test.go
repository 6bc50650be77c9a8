package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDefaultIsWithinBounds(t *testing.T) {
	require.NoError(t, Default().Check())
}

func TestCheckNamesTheKey(t *testing.T) {
	for want, change := range map[string]func(*Policy){
		`isolation: "none"`:               func(p *Policy) { p.Isolation = "none" },
		`approvals: "never"`:              func(p *Policy) { p.Approvals = "never" },
		`start: ""`:                       func(p *Policy) { p.Start = "" },
		"providers: none is left":         func(p *Policy) { p.Providers = nil },
		`providers: "host"`:               func(p *Policy) { p.Providers = []string{"host"} },
		`providers: "e2b" is there twice`: func(p *Policy) { p.Providers = []string{"e2b", "e2b"} },
		"cpus: 65":                        func(p *Policy) { p.CPUs = 65 },
		"cpus: 0":                         func(p *Policy) { p.CPUs = 0 },
		"memory: 1MiB":                    func(p *Policy) { p.Memory = 1 << 20 },
		"disk: -1B":                       func(p *Policy) { p.Disk = -1 },
		"timeout: 25h":                    func(p *Policy) { p.Timeout = 25 * 3600 * 1e9 },
		`egress: "10.0.0.1"`:              func(p *Policy) { p.Egress = []string{"10.0.0.1"} },
		"artifacts.max_file: 0B":          func(p *Policy) { p.Artifacts.MaxFile = 0 },
		"artifacts.max_files: 0":          func(p *Policy) { p.Artifacts.MaxFiles = 0 },
	} {
		p := Default()
		change(&p)
		require.ErrorContains(t, p.Check(), want)
	}
}

func TestCheckHost(t *testing.T) {
	for _, bad := range []string{
		"", "localhost", "Example.com", "https://example.com", "example.com/x", "example.com:443", "1.2.3.4", "127.1",
		"a.0x7f", "::1", "[::1]", "*", "*.com", "a.*.com", "**.example.com", "-a.com", "a-.com", "a..com", "a.com.", "exämple.com",
		"a b.com", "a\x00.com", "ex_ample.com",
	} {
		require.Error(t, CheckHost(bad), bad)
	}
	for _, good := range []string{"example.com", "*.example.com", "a-b.c1.example.co", "xn--bcher-kva.example"} {
		require.NoError(t, CheckHost(good))
	}
	require.ErrorContains(t, CheckHosts([]string{"a.com", "a.com"}), "twice")
}

func TestCovers(t *testing.T) {
	granted := []string{"files.example.com", "*.example.org"}
	for name, want := range map[string]bool{
		"files.example.com": true, "example.com": false, "x.files.example.com": false,
		"a.example.org": true, "a.b.example.org": true, "*.b.example.org": true, "example.org": false, ".example.org": false,
		"*.example.com": false, "badexample.org": false,
	} {
		require.Equal(t, want, Covers(granted, name), name)
	}
}
