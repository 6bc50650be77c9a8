package cli

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/image"
)

// Set by the release build with -ldflags -X; otherwise the module's own build information speaks.
var version, commit string

var guestArchs = []string{"amd64", "arm64"}

type versionJSON struct {
	Schema  string `json:"schema"`
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	// Guest is the digest of the joy-guest inside, by architecture; one that this joy was built without is missing.
	Guest map[string]string `json:"guest"`
}

func newVersionCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print which joy this is",
		Args:  noArgs,
		Example: "  joy version\n" +
			"  joy version --json",
		RunE: func(*cobra.Command, []string) error {
			v := readVersion()
			if a.json {
				return a.printJSON(v)
			}
			var b strings.Builder
			fmt.Fprintf(&b, "joy %s\ncommit %s\n%s %s/%s\n", v.Version, v.Commit, v.Go, v.OS, v.Arch)
			for _, arch := range guestArchs {
				fmt.Fprintf(&b, "joy-guest %s %s\n", arch, cmp.Or(v.Guest[arch], "not carried"))
			}
			_, err := io.WriteString(a.out, b.String())
			return err
		},
	}
}

func readVersion() versionJSON {
	v := versionJSON{
		"joy.version/1", version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH, map[string]string{},
	}
	for _, arch := range guestArchs {
		if guest, err := image.Guest(arch); err == nil {
			v.Guest[arch] = digest.Bytes(guest)
		}
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		if v.Version == "" {
			v.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && v.Commit == "" {
				v.Commit = s.Value
			}
		}
	}
	if v.Version == "" {
		v.Version = "(devel)"
	}
	if v.Commit == "" {
		v.Commit = "unknown"
	}
	return v
}
