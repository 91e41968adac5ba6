package access

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/foldql/foldql/internal/localrequest"
)

// Loopback reports whether only this machine can reach the address.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	host, _, _ = strings.Cut(host, "%") // the zone of an IPv6 address
	return localrequest.IsLoopback(host)
}

// originName is the name of the host of an origin, "" where it has none, as the one of a sandboxed page.
func originName(origin string) string {
	u, err := url.Parse(origin)
	if err != nil {
		return ""
	}
	return localrequest.HostName(u.Host)
}

// sameHost reports whether an origin is that of a host.
func sameHost(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && strings.EqualFold(u.Host, host)
}

// arrivedAtLoopback reports whether the request came in at an address that only this machine can reach. It is not known
// where another program hands requests over without saying.
func arrivedAtLoopback(r *http.Request) bool {
	switch at := r.Context().Value(http.LocalAddrContextKey).(type) {
	case *net.TCPAddr:
		return at.IP.IsLoopback()
	case net.Addr:
		return Loopback(at.String())
	}
	return false
}
