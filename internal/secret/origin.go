package secret

import (
	"encoding/json"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/fault"
)

// Origin is the one place a credential may go to: a server's scheme, host and port, or a command of a project. What it
// was stored for and what asks for it are compared as a whole, so that a page of the same host is the same origin and
// the same command in another checkout is not.
type Origin struct {
	url     string // scheme://host:port, lower case, the port always said
	project string // absolute
	argv    []string
}

// OriginOfURL is the origin of a URL whose scheme is http or https. Path, query, user and fragment are no part of it.
func OriginOfURL(text string) (Origin, error) {
	u, err := url.Parse(text)
	port := map[string]string{"https": "443", "http": "80"}
	if err != nil || port[u.Scheme] == "" || u.Hostname() == "" || u.Opaque != "" {
		return Origin{}, fault.New(fault.Input, "%.200q is not the URL of a server", text).WithHint("write it as https://mcp.example.com")
	}
	p := u.Port()
	if p == "" {
		p = port[u.Scheme]
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	return Origin{url: u.Scheme + "://" + net.JoinHostPort(host, p)}, nil
}

// OriginOfCommand is the origin of a server that is started: its argument list, in the project at that directory.
func OriginOfCommand(project string, argv []string) Origin {
	return Origin{project: filepath.Clean(project), argv: slices.Clone(argv)}
}

// Equal reports whether a credential stored for one may go to the other. Nothing equals the zero Origin.
func (o Origin) Equal(other Origin) bool {
	if o.IsZero() {
		return false
	}
	return o.url == other.url && o.project == other.project && slices.Equal(o.argv, other.argv)
}

// IsZero reports whether it is no origin at all.
func (o Origin) IsZero() bool { return o.url == "" && len(o.argv) == 0 }

// String is the origin for people; it holds what strangers wrote, to be escaped before it is printed.
func (o Origin) String() string {
	switch {
	case o.IsZero():
		return "nowhere"
	case o.url != "":
		return o.url
	}
	argv, _ := json.Marshal(o.argv) // strings alone cannot fail
	return string(argv) + " in " + o.project
}
