package front

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/foldql/foldql/internal/localrequest"
)

// Loopback reports whether only this machine can reach an address.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && isLoopback(host)
}

// isLoopback is that of localrequest, with names below localhost: browsers resolve these by themselves.
func isLoopback(name string) bool {
	return localrequest.IsLoopback(name) || strings.HasSuffix(name, ".localhost")
}

// ours reports whether a program on this machine has sent a request by itself, and, if it is a browser, for a page at
// this address: no proxy passes on what a stranger asks, and no other site has had its name made to lead here.
func ours(r *http.Request) bool {
	if !r.ProtoAtLeast(1, 1) || localrequest.Forwarded(r.Header) != "" || !isLoopback(localrequest.HostName(r.Host)) {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && strings.EqualFold(u.Host, r.Host)
}
