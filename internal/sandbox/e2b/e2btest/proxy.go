package e2btest

import (
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
)

// daemonPort is the daemon's port in every sandbox.
const daemonPort = 49983

// Headers that route a request to a sandbox.
const (
	headerID   = "E2b-Sandbox-Id"
	headerPort = "E2b-Sandbox-Port"
)

// forSandbox tells the data plane's requests from the control plane's. They share an address here.
func forSandbox(r *http.Request) bool {
	return r.Header.Get(headerID) != "" || r.Header.Get(headerPort) != ""
}

// internal are the daemon's routes that nobody outside may reach.
var internal = map[string]bool{
	"/init": true, "/freeze": true, "/unfreeze": true, "/collapse": true, "/fsfreeze": true, "/fsthaw": true, "/upgrade": true,
}

// proxy passes a request on to the daemon of its sandbox. It adds nothing and takes nothing away.
func (s *Server) proxy(w http.ResponseWriter, r *http.Request) {
	id, portText := bareID(r.Header.Get(headerID)), r.Header.Get(headerPort)
	port, err := strconv.Atoi(portText)
	switch {
	case id == "" || portText == "":
		proxyError(w, r, http.StatusBadRequest, id, 0, "missing header")
		return
	case err != nil || port < 1 || port > 65535:
		proxyError(w, r, http.StatusBadRequest, id, 0, "invalid sandbox port")
		return
	}
	sb := s.find(id)
	switch {
	case sb == nil:
		proxyError(w, r, http.StatusBadGateway, id, 0, "The sandbox was not found")
		return
	case port != daemonPort:
		proxyError(w, r, http.StatusBadGateway, id, port, "The sandbox is running but port is not open")
		return
	case internal[r.URL.Path]:
		http.NotFound(w, r)
		return
	}
	// Without it HTTP/1 ends the request where the answer begins, and a stream that began early is cut.
	_ = http.NewResponseController(w).EnableFullDuplex()
	p := &httputil.ReverseProxy{
		Transport: sb.toDaemon, FlushInterval: -1,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // a machine that dies under a stream is a test's wish
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(&url.URL{Scheme: "http", Host: "daemon"})
			p.Out.Header["X-Forwarded-For"] = nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, _ error) {
			if s.find(id) == nil {
				proxyError(w, r, http.StatusBadGateway, id, 0, "The sandbox was not found")
				return
			}
			proxyError(w, r, http.StatusBadGateway, id, port, "The sandbox is running but port is not open")
		},
	}
	p.ServeHTTP(w, r)
}

// proxyError is an error of the way to a sandbox: JSON, or a page for what looks like a browser.
func proxyError(w http.ResponseWriter, r *http.Request, status int, id string, port int, message string) {
	if strings.HasPrefix(r.UserAgent(), "Mozilla/") {
		writePage(w, status, message)
		return
	}
	body := map[string]any{"sandboxId": id, "message": message, "code": status}
	if port != 0 {
		body["port"] = port
	}
	writeJSON(w, status, body)
}

func writePage(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte("<!DOCTYPE html>\n<html><head><title>" + strconv.Itoa(status) + "</title></head><body><h1>" + message + "</h1></body></html>\n"))
}
