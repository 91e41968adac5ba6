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
	origin := r.Header.Get("Origin")
	if origin == "" && crossSite(r) || origin != "" && !localrequest.IsLoopback(originName(origin)) {
		return problem.ForeignOrigin("Without a write token this is not for pages of other sites.")
	}
	return nil
}
