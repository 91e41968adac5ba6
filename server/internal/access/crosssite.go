package access

import (
	"net/http"

	"github.com/foldql/foldql/server/internal/problem"
)

// RefuseBlindRequests refuses what a page of another site has a browser load as an image, a frame or the like. The page
// cannot read the answer, but each request would cost a query.
func RefuseBlindRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if blind(r) {
			problem.ForeignOrigin("Pages of other sites ask by fetch in the mode cors, which names their origin; links, "+
				"images and frames do not.").Answer(w, r)
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
