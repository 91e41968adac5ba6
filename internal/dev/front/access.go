package front

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Loopback reports whether only this machine can reach an address.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && isLoopback(host)
}

// isLoopback reports whether a name or an address is of this machine alone. Browsers resolve the names below localhost
// by themselves.
func isLoopback(name string) bool {
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || net.ParseIP(name).IsLoopback()
}

// ours reports whether a request is of this machine, and of no page but those at this address: what fails here is not
// for a page of another site, whose name was made to lead here.
func ours(r *http.Request) bool {
	if !isLoopback(hostName(r.Host)) {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && strings.EqualFold(u.Host, r.Host)
}

// hostName is the name or the address in a host, in lower case and without its port.
func hostName(host string) string {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	return strings.ToLower(strings.TrimSuffix(name, "."))
}
