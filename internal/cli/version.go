package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Set by the release build with -ldflags -X; otherwise the module's own build information speaks.
var version, commit string

type versionJSON struct {
	Schema  string `json:"schema"`
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
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
			_, err := fmt.Fprintf(a.out, "joy %s\ncommit %s\n%s %s/%s\n", v.Version, v.Commit, v.Go, v.OS, v.Arch)
			return err
		},
	}
}

func readVersion() versionJSON {
	v := versionJSON{"joy.version/1", version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH}
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
