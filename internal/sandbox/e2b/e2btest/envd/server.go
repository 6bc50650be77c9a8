//go:build linux

package main

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// searchPath is the PATH of the daemon and of what it starts.
const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// settings are what POST /init said last.
type settings struct {
	AccessToken    string            `json:"accessToken"`
	EnvVars        map[string]string `json:"envVars"`
	DefaultUser    string            `json:"defaultUser"`
	DefaultWorkdir string            `json:"defaultWorkdir"`
}

// server is the daemon.
type server struct {
	processes processes
	watchers  watchers

	mu  sync.Mutex
	set settings
}

// serve is the daemon's whole life: it ends with its channel.
func serve() error {
	s := &server{set: settings{DefaultUser: "root"}}
	s.processes.table = map[uint32]*process{}
	s.watchers.table = map[string]*watcher{}
	web := &http.Server{Handler: s.handler(), ReadHeaderTimeout: time.Minute}
	err := web.Serve(newChannel(fdControl))
	if errors.Is(err, io.EOF) || errors.Is(err, unix.ECONNRESET) {
		return nil
	}
	return err
}

func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("POST /init", s.init)
	private := http.NewServeMux()
	private.HandleFunc("GET /envs", func(w http.ResponseWriter, _ *http.Request) {
		envs := map[string]string{"E2B_SANDBOX": "true"}
		for k, v := range s.settings().EnvVars {
			envs[k] = v
		}
		writeJSON(w, http.StatusOK, envs)
	})
	private.HandleFunc("GET /metrics", metrics)
	private.HandleFunc("GET /files", s.download)
	private.HandleFunc("POST /files", s.upload)

	const process, files = "/process.Process/", "/filesystem.Filesystem/"
	private.HandleFunc(process+"Start", serverStream(s.start))
	private.HandleFunc(process+"Connect", serverStream(s.connect))
	private.HandleFunc(process+"List", unary(s.list))
	private.HandleFunc(process+"Update", unary(s.update))
	private.HandleFunc(process+"SendInput", unary(s.sendInput))
	private.HandleFunc(process+"StreamInput", clientStream(s.streamInput))
	private.HandleFunc(process+"SendSignal", unary(s.sendSignal))
	private.HandleFunc(process+"CloseStdin", unary(s.closeStdin))
	private.HandleFunc(files+"Stat", unary(s.stat))
	private.HandleFunc(files+"MakeDir", unary(s.makeDir))
	private.HandleFunc(files+"Move", unary(s.move))
	private.HandleFunc(files+"ListDir", unary(s.listDir))
	private.HandleFunc(files+"Remove", unary(s.remove))
	private.HandleFunc(files+"WatchDir", serverStream(s.watchDir))
	private.HandleFunc(files+"CreateWatcher", unary(s.createWatcher))
	private.HandleFunc(files+"GetWatcherEvents", unary(s.getWatcherEvents))
	private.HandleFunc(files+"RemoveWatcher", unary(s.removeWatcher))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		token := s.settings().AccessToken
		if token != "" && subtle.ConstantTimeCompare([]byte(r.Header.Get("X-Access-Token")), []byte(token)) != 1 {
			plainError(w, http.StatusUnauthorized, "unauthorized access, please provide a valid access token or method signing if supported")
			return
		}
		private.ServeHTTP(w, r)
	})
	return mux
}

func (s *server) settings() settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.set
}

// init takes over settings. The token of a machine that has one cannot be changed without it.
func (s *server) init(w http.ResponseWriter, r *http.Request) {
	next := s.settings()
	old := next.AccessToken
	if err := json.NewDecoder(r.Body).Decode(&next); err != nil {
		plainError(w, http.StatusBadRequest, "%v", err)
		return
	}
	if old != "" && next.AccessToken != old {
		plainError(w, http.StatusUnauthorized, "access token mismatch")
		return
	}
	s.mu.Lock()
	s.set = next
	s.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

// metrics are measured where they are cheap to have; how busy the CPU is is not.
func metrics(w http.ResponseWriter, _ *http.Request) {
	var info unix.Sysinfo_t
	var disk unix.Statfs_t
	if err := errors.Join(unix.Sysinfo(&info), unix.Statfs("/", &disk)); err != nil {
		plainError(w, http.StatusInternalServerError, "%v", err)
		return
	}
	unit, block := uint64(info.Unit), uint64(disk.Bsize)
	total, free := info.Totalram*unit, info.Freeram*unit
	writeJSON(w, http.StatusOK, map[string]any{
		"ts": time.Now().Unix(), "cpu_count": countCPUs(), "cpu_used_pct": 0,
		"mem_total": total, "mem_used": total - free, "mem_total_mib": total >> 20, "mem_used_mib": (total - free) >> 20,
		"disk_total": disk.Blocks * block, "disk_used": (disk.Blocks - disk.Bfree) * block,
	})
}

func countCPUs() int {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return 1
	}
	return set.Count()
}

// die ends the daemon, and with it the machine, as a panic does.
func die(why string) {
	fmt.Fprintln(os.Stderr, "panic:", why)
	os.Exit(2)
}
