package access

import (
	"net/http"

	"github.com/foldql/foldql/server/internal/problem"
)

// RefuseBlindRequests refuses what a page of another site has a browser load as an image, a frame or the like. The page
// cannot read the answer, but each request would cost a query. Browsers send no POST with JSON without asking first
// whether they may.
func RefuseBlindRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if (r.Method == http.MethodGet || r.Method == http.MethodHead) && blind(r) {
			problem.ForeignOrigin("Pages of other sites ask by fetch in the mode cors, which names their origin. Have a link "+
				"open the query in GraphiQL, at /?query=…; have a server that asks for its visitors forward no Sec-Fetch-* "+
				"headers.").Answer(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// blind reports whether a page of another site has had the request sent without its origin, which browsers name where
// the page is to read the answer.
func blind(r *http.Request) bool {
	return r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.Header.Get("Origin") == ""
}
