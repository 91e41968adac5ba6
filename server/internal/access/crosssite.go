package access

import (
	"net/http"
	"slices"

	"github.com/foldql/foldql/server/internal/problem"
)

// RefuseCrossSiteQueries refuses what a page of another site has a browser ask by GET, as an image, a frame or by
// fetch, unless pages of its origin may ask. The page cannot read the answer, but each request would cost a query.
// Browsers send no POST with JSON without asking first whether they may.
func RefuseCrossSiteQueries(origins []string, next http.Handler) http.Handler {
	listed := func(origin string) bool {
		return origin != "" && (slices.Contains(origins, "*") || slices.Contains(origins, origin))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if (r.Method == http.MethodGet || r.Method == http.MethodHead) && crossSite(r) && !listed(r.Header.Get("Origin")) {
			problem.ForeignOrigin("A page of another site may ask only by fetch in the mode cors, and if --cors-origins lists "+
				"its origin. Have a link open the query in GraphiQL, at /?query=…; have a server that asks for its visitors "+
				"forward no Sec-Fetch-* headers.").Answer(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// crossSite reports whether a browser says that a page of another site has had the request sent.
func crossSite(r *http.Request) bool { return r.Header.Get("Sec-Fetch-Site") == "cross-site" }
