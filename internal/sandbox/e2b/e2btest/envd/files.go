//go:build linux

package main

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// refusal is an error of /files with its HTTP status.
type refusal struct {
	status int
	why    error
}

func (e *refusal) Error() string { return e.why.Error() }

func refuse(status int, format string, args ...any) error {
	return &refusal{status, fmt.Errorf(format, args...)}
}

// answer tells a client of /files what went wrong.
func answer(w http.ResponseWriter, err error) {
	var r *refusal
	switch {
	case errors.As(err, &r):
		plainError(w, r.status, "%v", err)
	case errors.Is(err, unix.ENOSPC):
		plainError(w, http.StatusInsufficientStorage, "not enough disk space available: %v", err)
	default:
		plainError(w, http.StatusInternalServerError, "%v", err)
	}
}

// fileUser is who a transfer is for: the query's username, else the default user.
func (s *server) fileUser(r *http.Request) (*user, error) {
	name := r.URL.Query().Get("username")
	if name == "" {
		name = s.settings().DefaultUser
	}
	u, err := lookUser(name)
	if err != nil {
		return nil, refuse(http.StatusUnauthorized, "error looking up user '%s': %v", name, err)
	}
	return u, nil
}

func (s *server) download(w http.ResponseWriter, r *http.Request) {
	if err := s.sendFile(w, r); err != nil {
		answer(w, err)
	}
}

// sendFile sends a file, in parts where a range is asked for, and compressed where the client takes that.
func (s *server) sendFile(w http.ResponseWriter, r *http.Request) error {
	u, err := s.fileUser(r)
	if err != nil {
		return err
	}
	path := u.resolve(r.URL.Query().Get("path"))
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return refuse(http.StatusNotFound, "path '%s' does not exist", path)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return refuse(http.StatusBadRequest, "path '%s' is not a regular file", path)
	}
	w.Header().Set("Content-Disposition", mime.FormatMediaType("inline", map[string]string{"filename": filepath.Base(path)}))
	w.Header().Set("Vary", "Accept-Encoding")
	if r.Header.Get("Range") == "" && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "application/octet-stream")
		z := gzip.NewWriter(w)
		_, _ = io.Copy(z, f) // the client sees a body that does not end
		return z.Close()
	}
	http.ServeContent(w, r, path, info.ModTime(), f)
	return nil
}

// written is one line of the answer to an upload.
type written struct {
	Name string `json:"name"`
	Path string `json:"path"`
	Type string `json:"type"`
}

func (s *server) upload(w http.ResponseWriter, r *http.Request) {
	done, err := s.takeFiles(r)
	if err != nil {
		answer(w, err)
		return
	}
	writeJSON(w, http.StatusOK, done)
}

func (s *server) takeFiles(r *http.Request) ([]written, error) {
	u, err := s.fileUser(r)
	if err != nil {
		return nil, err
	}
	body := r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		if body, err = gzip.NewReader(body); err != nil {
			return nil, refuse(http.StatusBadRequest, "error decompressing the body: %w", err)
		}
		r.Body = body
	}
	path := r.URL.Query().Get("path")
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch kind {
	case "application/octet-stream":
		if path == "" {
			return nil, refuse(http.StatusBadRequest, "path is required for octet-stream uploads")
		}
		one, err := u.write(path, body)
		return []written{one}, err
	case "multipart/form-data":
		return u.writeParts(r, path)
	}
	return nil, refuse(http.StatusBadRequest, "error parsing multipart form: request Content-Type isn't multipart/form-data")
}

// writeParts writes each part called "file": to path, of which there may then be only one, or to the part's own name.
func (u *user) writeParts(r *http.Request, path string) ([]written, error) {
	form, err := r.MultipartReader()
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "error parsing multipart form: %w", err)
	}
	done := []written{}
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return done, nil
		}
		if err != nil {
			return nil, refuse(http.StatusBadRequest, "error parsing multipart form: %w", err)
		}
		if part.FormName() != "file" {
			continue
		}
		to := path
		if to == "" {
			_, params, _ := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
			to = params["filename"] // part.FileName would drop the directories
		}
		one, err := u.write(to, part)
		if err != nil {
			return nil, err
		}
		for _, before := range done {
			if before.Path == one.Path {
				return nil, refuse(http.StatusBadRequest, "you cannot upload multiple files to the same path '%s' in one upload request", one.Path)
			}
		}
		done = append(done, one)
	}
}

// write replaces the bytes of a file in place: a reader may see half of them, and a failure leaves half of them.
func (u *user) write(name string, r io.Reader) (written, error) {
	path := u.resolve(name)
	if info, err := os.Stat(path); name == "" || err == nil && info.IsDir() {
		return written{}, refuse(http.StatusBadRequest, "path is a directory: %s", path)
	}
	if err := u.mkdirs(filepath.Dir(path)); err != nil {
		return written{}, refuse(http.StatusBadRequest, "error ensuring directories: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return written{}, err
	}
	_, err = io.Copy(f, r)
	if err := errors.Join(err, f.Chown(int(u.uid), int(u.gid)), f.Close()); err != nil {
		return written{}, err
	}
	return written{filepath.Base(path), path, "file"}, nil
}
