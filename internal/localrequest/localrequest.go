// Package localrequest tells requests that a program on this machine has sent by itself from those that a proxy beside
// the server passes on.
package localrequest

import (
	"net"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
)

// IsLoopback reports whether a name or an address is of this machine alone.
func IsLoopback(name string) bool {
	return name == "localhost" || net.ParseIP(name).IsLoopback()
}

// HostName is the name or the address in a host, in lower case and without its port.
func HostName(host string) string {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	return strings.ToLower(strings.TrimSuffix(name, "."))
}

// forwarding are headers in which proxies say who has asked them, or for what; forwardingPrefixes begin such.
var (
	forwarding = []string{
		"Forwarded", "Via", "X-Real-Ip", "X-Client-Ip", "X-Cluster-Client-Ip", "X-Proxyuser-Ip", "X-Azure-Clientip",
		"X-Appengine-User-Ip", "True-Client-Ip", "Fastly-Client-Ip", "Fly-Client-Ip", "Client-Ip", "Cdn-Loop",
	}
	forwardingPrefixes = []string{"X-Forwarded", "X-Original-", "X-Envoy-", "X-Amzn-", "Cf-"}
)

// Forwarded returns a header that only a proxy adds, "" where there is none.
func Forwarded(h http.Header) string {
	for name := range h {
		name = textproto.CanonicalMIMEHeaderKey(name)
		if slices.Contains(forwarding, name) {
			return name
		}
		for _, prefix := range forwardingPrefixes {
			if strings.HasPrefix(name, prefix) {
				return name
			}
		}
	}
	return ""
}
