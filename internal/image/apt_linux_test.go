package image

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMirrorSources(t *testing.T) {
	const key = "signed-by=" + debianArchiveKey
	for mirror, want := range map[string]string{
		"https://mirror.example/debian": "deb [" + key + "] https://mirror.example/debian bookworm main\n" +
			"deb [" + key + "] https://mirror.example/debian bookworm-updates main\n",
		"https://snap.example/archive/debian/20261120T000000Z": "deb [" + key + " check-valid-until=no] https://snap.example/archive/debian/20261120T000000Z bookworm main\n" +
			"deb [" + key + " check-valid-until=no] https://snap.example/archive/debian/20261120T000000Z bookworm-updates main\n" +
			"deb [" + key + " check-valid-until=no] https://snap.example/archive/debian-security/20261120T000000Z bookworm-security main\n",
	} {
		require.Equal(t, want, mirrorSources(mirror))
	}
	require.NotContains(t, mirrorSources("https://snap.example/archive/debian/2026"), "check-valid-until", "a date is not a snapshot")
}

// A snapshot's index has expired: apt must take it all the same, and from no other kind of mirror.
func TestExpiredIndex(t *testing.T) {
	for option, want := range map[string]string{" check-valid-until=no": "", "": "is expired"} {
		a := newTestArchive(t)
		a.addKernel(nil)
		a.addPrograms()
		sources := a.sources()
		release := filepath.Join(a.dir, "Release")
		text, err := os.ReadFile(release)
		require.NoError(t, err)
		text = fmt.Appendf(nil, "Valid-Until: %s\n%s", packageTime.Add(time.Hour).Format(time.RFC1123), text)
		require.NoError(t, os.WriteFile(release, text, 0o600))
		o := Options{Profile: "tiny", CacheDir: t.TempDir(), sources: "deb [trusted=yes" + option + sources[len("deb [trusted=yes"):]}
		o.LookupEnv = strictApt(t)
		_, err = Build(t.Context(), o)
		if want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want)
		}
	}
}

// strictApt is an environment whose apt checks dates, whatever the host's is told.
func strictApt(t *testing.T) func(string) (string, bool) {
	t.Helper()
	bin := t.TempDir()
	script := "#!/bin/sh\necho 'Acquire::Check-Valid-Until \"true\";'\necho 'Acquire::Check-Date \"true\";'\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "apt-config"), []byte(script), 0o700))
	return func(key string) (string, bool) {
		if key == "PATH" {
			return bin + ":" + os.Getenv("PATH"), true
		}
		return os.LookupEnv(key)
	}
}
