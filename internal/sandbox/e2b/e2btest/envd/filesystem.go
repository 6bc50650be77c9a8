//go:build linux

package main

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The messages of filesystem.Filesystem in their JSON form.
type (
	entryInfo struct {
		Name          string    `json:"name,omitempty"`
		Type          string    `json:"type,omitempty"`
		Path          string    `json:"path,omitempty"`
		Size          int64     `json:"size,omitempty,string"`
		Mode          uint32    `json:"mode,omitempty"`
		Permissions   string    `json:"permissions,omitempty"`
		Owner         string    `json:"owner,omitempty"`
		Group         string    `json:"group,omitempty"`
		ModifiedTime  time.Time `json:"modifiedTime"`
		SymlinkTarget *string   `json:"symlinkTarget,omitempty"`
	}
	pathRequest  struct{ Path string }
	entryMessage struct {
		Entry *entryInfo `json:"entry"`
	}
	moveRequest    struct{ Source, Destination string }
	listDirRequest struct {
		Path  string
		Depth uint32
	}
	listDirResponse struct {
		Entries []*entryInfo `json:"entries,omitempty"`
	}
)

// entry describes what is at path, not what a link there leads to.
func entry(path string) (*entryInfo, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, fileError(err)
	}
	e := &entryInfo{
		Name: filepath.Base(path), Path: path, Size: info.Size(), Mode: uint32(info.Mode().Perm()),
		Permissions: info.Mode().String(), ModifiedTime: info.ModTime().UTC(),
	}
	switch {
	case info.Mode().IsRegular():
		e.Type = "FILE_TYPE_FILE"
	case info.IsDir():
		e.Type = "FILE_TYPE_DIRECTORY"
	case info.Mode()&fs.ModeSymlink != 0:
		e.Type = "FILE_TYPE_SYMLINK"
		if to, err := filepath.EvalSymlinks(path); err == nil {
			e.SymlinkTarget = &to
		} else if to, err := os.Readlink(path); err == nil {
			e.SymlinkTarget = &to
		}
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		e.Owner, e.Group = nameOf("/etc/passwd", 7, st.Uid), nameOf("/etc/group", 4, st.Gid)
	}
	return e, nil
}

// fileError gives an error of the file system the code a client expects.
func fileError(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return failf(codeNotFound, "file not found: %v", err)
	case errors.Is(err, unix.ENOTDIR):
		return failf(codeInvalidArgument, "%v", err)
	}
	return failf(codeInternal, "%v", err)
}

func (s *server) stat(r *http.Request, req *pathRequest) (*entryMessage, error) {
	_, path, err := s.pathOf(r, req.Path)
	if err != nil {
		return nil, err
	}
	e, err := entry(path)
	return &entryMessage{e}, err
}

func (s *server) makeDir(r *http.Request, req *pathRequest) (*entryMessage, error) {
	u, path, err := s.pathOf(r, req.Path)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil {
		if info.IsDir() {
			return nil, failf(codeAlreadyExists, "directory already exists: %s", path)
		}
		return nil, failf(codeInvalidArgument, "path already exists but it is not a directory: %s", path)
	}
	if err := u.mkdirs(path); err != nil {
		return nil, err
	}
	e, err := entry(path)
	return &entryMessage{e}, err
}

func (s *server) move(r *http.Request, req *moveRequest) (*entryMessage, error) {
	u, from, err := s.pathOf(r, req.Source)
	if err != nil {
		return nil, err
	}
	to := u.resolve(req.Destination)
	if _, err := os.Lstat(from); err != nil {
		return nil, fileError(err)
	}
	if err := u.mkdirs(filepath.Dir(to)); err != nil {
		return nil, err
	}
	if err := os.Rename(from, to); err != nil {
		return nil, fileError(err)
	}
	e, err := entry(to)
	return &entryMessage{e}, err
}

// listDir goes depth levels deep; 0 means 1.
func (s *server) listDir(r *http.Request, req *listDirRequest) (*listDirResponse, error) {
	_, dir, err := s.pathOf(r, req.Path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fileError(err)
	}
	if !info.IsDir() {
		return nil, failf(codeInvalidArgument, "path is not a directory: %s", dir)
	}
	depth := int(max(1, req.Depth))
	resp := &listDirResponse{}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		e, err := entry(path)
		if err != nil {
			return err
		}
		resp.Entries = append(resp.Entries, e)
		rel := strings.TrimPrefix(path[len(dir):], "/")
		if d.IsDir() && strings.Count(rel, "/")+1 >= depth {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return nil, fileError(err)
	}
	return resp, nil
}

// remove succeeds when nothing is there, as rm -rf does.
func (s *server) remove(r *http.Request, req *pathRequest) (*empty, error) {
	_, path, err := s.pathOf(r, req.Path)
	if err != nil {
		return nil, err
	}
	if err := os.RemoveAll(path); err != nil {
		return nil, fileError(err)
	}
	return &empty{}, nil
}
