package access

import (
	"net/http"

	"github.com/foldql/foldql/internal/localrequest"
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
	case localrequest.Forwarded(r.Header) != "":
		return problem.NotLocal("its header " + localrequest.Forwarded(r.Header) + " says that it came through a proxy")
	case !localrequest.IsLoopback(localrequest.HostName(r.Host)):
		return problem.ForeignHost("Without a write token this is for requests to localhost, 127.0.0.1 or [::1] only.")
	}
	if !ownPage(r) {
		return problem.ForeignOrigin("Without a write token this is not for pages of other origins.")
	}
	return nil
}

// ownPage reports whether no page has had a browser send the request, or one that is served here. What the browser
// says counts before the origin: the development server of a frontend passes on what its page asks, with its origin.
func ownPage(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	switch r.Header.Get("Sec-Fetch-Site") {
	case "":
		return origin == "" || sameHost(origin, r.Host)
	case "same-origin", "none":
		return origin == "" || localrequest.IsLoopback(originName(origin))
	}
	return false
}
