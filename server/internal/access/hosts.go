package access

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/foldql/foldql/internal/localrequest"
	"github.com/foldql/foldql/server/internal/problem"
)

// Hosts keeps pages of other sites from reading a server that only this machine can reach, or only a network, as the
// listener for operators: whoever owns a name can have it lead here, and a browser then takes what is here for a part
// of their site (DNS rebinding). So requests name the server by an address, which nobody can make lead elsewhere, or by
// a name that the server knows as its own.
type Hosts struct {
	Names   []string // its own beside localhost, in lower case; "*" for any
	Origins []string // whose pages may ask

	last atomic.Pointer[string] // the host of the last request that named the server, as most others do
}

// Guard refuses requests under other names where they came in at loopback, or where the names are listed: a server that
// a network reaches may have names that it does not know.
func (h *Hosts) Guard(next http.Handler) http.Handler {
	return h.guard(next, func(r *http.Request) bool {
		return !publicPath(r.URL.Path) && (len(h.Names) > 0 || arrivedAtLoopback(r))
	})
}

// GuardOperators refuses requests under other names wherever they came in: what shows more to whoever reaches it would
// show that to every page in a browser beside it.
func (h *Hosts) GuardOperators(next http.Handler) http.Handler {
	return h.guard(next, func(r *http.Request) bool { return r.URL.Path != LivePath })
}

// guard refuses those of the requests that matter.
func (h *Hosts) guard(next http.Handler, matters func(*http.Request) bool) http.Handler {
	if slices.Contains(h.Names, "*") {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if matters(r) {
			if bad := h.refuse(r); bad != nil {
				bad.Answer(w, r)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

func (h *Hosts) refuse(r *http.Request) *problem.Problem {
	if !h.named(r.Host) {
		return problem.ForeignHost("This server is not asked by that name; if it is to be, start it with --allowed-hosts " +
			"and the name.")
	}
	origin := r.Header.Get("Origin")
	// What a page may ask with OPTIONS is answered by the list of origins, and reads nothing.
	if origin == "" || r.Method == http.MethodOptions || h.ownOrigin(origin, r.Host) {
		return nil
	}
	return problem.ForeignOrigin("Pages of this origin may not ask; if they are to, start the server with " +
		"--cors-origins " +
		"and the origin.")
}

// named reports whether a host is an address, or a name of the server's own.
func (h *Hosts) named(host string) bool {
	if last := h.last.Load(); last != nil && *last == host {
		return true
	}
	if name := localrequest.HostName(host); !h.own(name) && net.ParseIP(name) == nil {
		return false
	}
	h.last.Store(&host)
	return true
}

// Where the server is asked whether it is alive, and whether it is ready.
const (
	LivePath  = "/livez"
	ReadyPath = "/readyz"
)

// publicPath reports whether a path shows strangers nothing of what is stored.
func publicPath(path string) bool { return path == LivePath || path == ReadyPath }

// own reports whether a name is the server's own. Browsers resolve the names below localhost by themselves.
func (h *Hosts) own(name string) bool {
	return localrequest.IsLoopback(name) || strings.HasSuffix(name, ".localhost") || slices.Contains(h.Names, name)
}

// ownOrigin reports whether pages of the origin may ask: those that the server serves itself under the host, and
// those of this machine, which browsers let read what --cors-origins allows alone.
func (h *Hosts) ownOrigin(origin, host string) bool {
	if slices.Contains(h.Origins, "*") || slices.Contains(h.Origins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && (strings.EqualFold(u.Host, host) || h.own(localrequest.HostName(u.Host)))
}
