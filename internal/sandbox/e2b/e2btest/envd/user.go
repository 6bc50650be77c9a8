//go:build linux

package main

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// user is one line of the machine's /etc/passwd.
type user struct {
	name, home string
	uid, gid   uint32
	groups     []uint32
}

// lookUser reads the machine's own files each time: a command may have added users.
func lookUser(name string) (*user, error) {
	fields, err := find("/etc/passwd", 7, func(f []string) bool { return f[0] == name })
	if err != nil {
		return nil, err
	}
	u := &user{name: name, home: fields[5]}
	uid, errU := strconv.ParseUint(fields[2], 10, 32)
	gid, errG := strconv.ParseUint(fields[3], 10, 32)
	if err := errors.Join(errU, errG); err != nil {
		return nil, err
	}
	u.uid, u.gid = uint32(uid), uint32(gid)
	_, err = find("/etc/group", 4, func(f []string) bool {
		if id, err := strconv.ParseUint(f[2], 10, 32); err == nil && slices.Contains(strings.Split(f[3], ","), name) {
			u.groups = append(u.groups, uint32(id))
		}
		return false
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return u, nil
}

// nameOf is the name of an id in /etc/passwd or /etc/group, or the id.
func nameOf(file string, width int, id uint32) string {
	text := strconv.FormatUint(uint64(id), 10)
	if f, err := find(file, width, func(f []string) bool { return f[2] == text }); err == nil {
		return f[0]
	}
	return text
}

// find gives the first line that match takes; fs.ErrNotExist when there is none.
func find(file string, width int, match func([]string) bool) ([]string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Split(strings.TrimSuffix(line, "\n"), ":"); len(f) == width && match(f) {
			return f, nil
		}
	}
	return nil, fs.ErrNotExist
}

// userOf is who a call is for: the name of the Basic authorization, whose password is ignored, or the default user.
func (s *server) userOf(r *http.Request) (*user, error) {
	name, _, ok := r.BasicAuth()
	if !ok {
		name = s.settings().DefaultUser
	}
	u, err := lookUser(name)
	if err != nil {
		return nil, failf(codeUnauthenticated, "invalid username: '%s'", name)
	}
	return u, nil
}

// resolve makes a client's path absolute: ~ and what is relative are the user's home.
func (u *user) resolve(path string) string {
	switch {
	case path == "~" || strings.HasPrefix(path, "~/"):
		path = filepath.Join(u.home, path[1:])
	case !filepath.IsAbs(path):
		path = filepath.Join(u.home, path)
	}
	return filepath.Clean(path)
}

// mkdirs makes path and the parents that are missing, which become the user's.
func (u *user) mkdirs(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return failf(codeInvalidArgument, "path is a file: %s", path)
	case !errors.Is(err, fs.ErrNotExist):
		return fileError(err)
	}
	if err := u.mkdirs(filepath.Dir(path)); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.Chown(path, int(u.uid), int(u.gid))
}
