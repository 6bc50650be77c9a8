package policy

import (
	"errors"
	"net/url"
)

// ErrUserInfo is of an address that holds a user or a password.
var ErrUserInfo = errors.New("holds a user or password")

// CheckAddress holds an address of a service to what a plan may name: a URL of https, or of http to this machine, with
// nothing in it that is a secret or belongs to one request. A credential may go there, and on plain http anybody on the
// way reads it. The error continues a sentence that begins with what the address is.
func CheckAddress(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		return errors.New("is not a URL")
	case u.User != nil:
		return ErrUserInfo
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("has a query or a fragment: it is an address alone")
	case u.Scheme != "https" && !(u.Scheme == "http" && loopback(u.Hostname())):
		return errors.New("must be https: a credential may go there, and on plain http anybody on the way reads it; http is for localhost alone")
	}
	return nil
}

func loopback(host string) bool { return host == "localhost" || host == "127.0.0.1" || host == "::1" }
