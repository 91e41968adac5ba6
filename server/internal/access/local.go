package access

import (
	"net/http"
	"net/textproto"
	"slices"
	"strings"

	"github.com/foldql/foldql/server/internal/problem"
)

// ThisMachine admits requests that a program on this machine has sent by itself. A loopback listener takes no
// others, but a proxy beside it passes requests of strangers on, and a page of another site, whose name was made to
// lead here, has a browser on this machine send them.
func ThisMachine(r *http.Request) *problem.Problem {
	switch {
	case !Loopback(r.RemoteAddr):
		return problem.NotLocal("it comes from another machine")
	case !r.ProtoAtLeast(1, 1): // proxies speak HTTP/1.0, and hardly anybody else
		return problem.NotLocal("it is of HTTP/1.0, as a proxy sends it")
	case forwarded(r.Header) != "":
		return problem.NotLocal("its header " + forwarded(r.Header) + " says that it came through a proxy")
	case !isLoopback(hostName(r.Host)):
		return problem.ForeignHost("Without a write token this is for requests to localhost, 127.0.0.1 or [::1] only.")
	}
	if origin := r.Header.Get("Origin"); origin != "" && !isLoopback(originName(origin)) {
		return problem.ForeignOrigin("Without a write token this is not for pages of other sites.")
	}
	return nil
}

// forwarding are headers in which proxies say who has asked them, or for what; forwardingPrefixes begin such.
var (
	forwarding = []string{
		"Forwarded", "Via", "X-Real-Ip", "X-Client-Ip", "X-Cluster-Client-Ip", "X-Proxyuser-Ip", "X-Azure-Clientip",
		"X-Appengine-User-Ip", "True-Client-Ip", "Fastly-Client-Ip", "Fly-Client-Ip", "Client-Ip", "Cdn-Loop",
	}
	forwardingPrefixes = []string{"X-Forwarded", "X-Original-", "X-Envoy-", "X-Amzn-", "Cf-"}
)

// forwarded returns a header that only a proxy adds, "" where there is none.
func forwarded(h http.Header) string {
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
