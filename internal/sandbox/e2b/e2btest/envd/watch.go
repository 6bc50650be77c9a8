//go:build linux

package main

import (
	"crypto/rand"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

type (
	watchDirRequest struct {
		Path         string `json:"path"`
		Recursive    bool   `json:"recursive"`
		IncludeEntry bool   `json:"includeEntry"`
	}
	filesystemEvent struct {
		Name  string     `json:"name,omitempty"`
		Type  string     `json:"type,omitempty"`
		Entry *entryInfo `json:"entry,omitempty"`
	}
	watchDirResponse struct {
		Start      *empty           `json:"start,omitempty"`
		Filesystem *filesystemEvent `json:"filesystem,omitempty"`
		Keepalive  *empty           `json:"keepalive,omitempty"`
	}
	watcherMessage struct {
		WatcherID string `json:"watcherId"`
	}
	watcherEvents struct {
		Events []filesystemEvent `json:"events,omitempty"`
	}
)

// watch opens a watch of a directory, and of all below it where that is asked for.
func (s *server) watch(r *http.Request, req *watchDirRequest) (string, *fsnotify.Watcher, error) {
	_, dir, err := s.pathOf(r, req.Path)
	if err != nil {
		return "", nil, err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", nil, fileError(err)
	}
	if !info.IsDir() {
		return "", nil, failf(codeInvalidArgument, "path is not a directory: %s", dir)
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return "", nil, failf(codeInternal, "error creating watcher: %v", err)
	}
	if err := addBelow(w, dir, req.Recursive); err != nil {
		w.Close()
		return "", nil, failf(codeInternal, "error adding path to watcher: %v", err)
	}
	return dir, w, nil
}

func addBelow(w *fsnotify.Watcher, dir string, recursive bool) error {
	if !recursive {
		return w.Add(dir)
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return w.Add(path)
	})
}

// kinds are the events of one notification, in the order of EventType.
var kinds = []struct {
	op   fsnotify.Op
	name string
}{
	{fsnotify.Create, "EVENT_TYPE_CREATE"},
	{fsnotify.Write, "EVENT_TYPE_WRITE"},
	{fsnotify.Remove, "EVENT_TYPE_REMOVE"},
	{fsnotify.Rename, "EVENT_TYPE_RENAME"},
	{fsnotify.Chmod, "EVENT_TYPE_CHMOD"},
}

// events are what a notification means to a client; names are relative to the watched directory.
func (req *watchDirRequest) events(dir string, w *fsnotify.Watcher, e fsnotify.Event) []filesystemEvent {
	if req.Recursive && e.Has(fsnotify.Create) {
		if info, err := os.Lstat(e.Name); err == nil && info.IsDir() {
			_ = addBelow(w, e.Name, true) // it may be gone again
		}
	}
	name, err := filepath.Rel(dir, e.Name)
	if err != nil {
		return nil
	}
	var out []filesystemEvent
	for _, k := range kinds {
		if !e.Has(k.op) {
			continue
		}
		event := filesystemEvent{Name: name, Type: k.name}
		if req.IncludeEntry {
			event.Entry, _ = entry(e.Name) // nil of what is gone
		}
		out = append(out, event)
	}
	return out
}

func (s *server) watchDir(r *http.Request, req *watchDirRequest, send func(any) error) error {
	dir, w, err := s.watch(r, req)
	if err != nil {
		return err
	}
	defer w.Close()
	if err := send(watchDirResponse{Start: &empty{}}); err != nil {
		return err
	}
	interval := pingOf(r)
	alive := time.NewTicker(interval)
	defer alive.Stop()
	for {
		select {
		case e := <-w.Events:
			for _, event := range req.events(dir, w, e) {
				if err := send(watchDirResponse{Filesystem: &event}); err != nil {
					return err
				}
			}
			alive.Reset(interval)
		case err := <-w.Errors:
			return failf(codeInternal, "watcher error: %v", err)
		case <-alive.C:
			if err := send(watchDirResponse{Keepalive: &empty{}}); err != nil {
				return err
			}
		case <-r.Context().Done():
			return r.Context().Err()
		}
	}
}

// watcher keeps events for a client that asks for them now and then.
type watcher struct {
	notify *fsnotify.Watcher
	mu     sync.Mutex
	events []filesystemEvent
}

type watchers struct {
	mu    sync.Mutex
	table map[string]*watcher
}

func (s *server) createWatcher(r *http.Request, req *watchDirRequest) (*watcherMessage, error) {
	dir, notify, err := s.watch(r, req)
	if err != nil {
		return nil, err
	}
	id, w := rand.Text(), &watcher{notify: notify}
	go func() {
		for e := range notify.Events {
			w.mu.Lock()
			w.events = append(w.events, req.events(dir, notify, e)...)
			w.mu.Unlock()
		}
	}()
	s.watchers.mu.Lock()
	defer s.watchers.mu.Unlock()
	s.watchers.table[id] = w
	return &watcherMessage{id}, nil
}

func (s *server) getWatcherEvents(_ *http.Request, req *watcherMessage) (*watcherEvents, error) {
	s.watchers.mu.Lock()
	w := s.watchers.table[req.WatcherID]
	s.watchers.mu.Unlock()
	if w == nil {
		return nil, failf(codeNotFound, "watcher with id %s not found", req.WatcherID)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	out := &watcherEvents{w.events}
	w.events = nil
	return out, nil
}

func (s *server) removeWatcher(_ *http.Request, req *watcherMessage) (*empty, error) {
	s.watchers.mu.Lock()
	defer s.watchers.mu.Unlock()
	w := s.watchers.table[req.WatcherID]
	if w == nil {
		return nil, failf(codeNotFound, "watcher with id %s not found", req.WatcherID)
	}
	delete(s.watchers.table, req.WatcherID)
	_ = w.notify.Close()
	return &empty{}, nil
}
