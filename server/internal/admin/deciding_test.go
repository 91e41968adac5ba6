package admin

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/foldql/foldql/server/internal/problem"
)

// TestNothingIsDecidedByARequestThatIsNotWhole, also where what has come of it could be decided.
func TestNothingIsDecidedByARequestThatIsNotWhole(t *testing.T) {
	const decision = `{"projection": "Tasks", "all": true}`
	for name, c := range map[string]struct {
		body   io.Reader
		whole  bool
		status int
		says   string
	}{
		"whole": {strings.NewReader(decision), true, http.StatusOK, ""},
		"broken off": {io.MultiReader(strings.NewReader(decision), iotest.ErrReader(io.ErrUnexpectedEOF)), false,
			http.StatusBadRequest, "did not come whole: send it again"},
		"too slow": {io.MultiReader(strings.NewReader(decision), iotest.ErrReader(&net.OpError{Op: "read", Net: "tcp",
			Err: os.ErrDeadlineExceeded})), false, http.StatusRequestTimeout, "comes too slowly"},
		"too large": {strings.NewReader(decision + strings.Repeat(" ", usualBody)), false,
			http.StatusRequestEntityTooLarge, "send 65536 bytes at most"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			h := NewDeciding().guard(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				got = string(body)
			}))
			answer := httptest.NewRecorder()
			h.ServeHTTP(answer, httptest.NewRequest("POST", "/admin/dead-letters/skip", c.body))
			if c.whole != (got == decision) || !c.whole && got != "" {
				t.Errorf("what is decided is %.100q", got)
			}
			if text := answer.Body.String(); answer.Code != c.status || !strings.Contains(text, c.says) ||
				strings.Contains(text, "tcp") {
				t.Errorf("the answer is %d %s, want %d, which says %q, and nothing of the network", answer.Code, text, c.status,
					c.says)
			}
		})
	}
}

// TestARequestThatDoesNotComeWholeIsNotTakenForAnother: what it should have been has nothing to do with that.
func TestARequestThatDoesNotComeWholeIsNotTakenForAnother(t *testing.T) {
	a := &API{}
	for path, answer := range map[string]http.HandlerFunc{
		"/admin/events/search": a.searchEvents, "/admin/rebuild/verify": a.verify, "/admin/backup": a.backup,
		"/admin/cascades/retry": a.retryCascades,
	} {
		for err, want := range map[error]string{
			&net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}: "408 urn:foldql:problem:request-timeout",
			io.ErrUnexpectedEOF:            "400 urn:foldql:problem:bad-request",
			&http.MaxBytesError{Limit: 10}: "413 urn:foldql:problem:request-too-large",
		} {
			r := httptest.NewRequest("POST", path, io.MultiReader(strings.NewReader("{"), iotest.ErrReader(err)))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			answer(w, r)
			var got problem.Problem
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			if is := fmt.Sprint(w.Code, " ", got.Type); is != want || !strings.HasPrefix(got.Detail, "Nothing is done, as ") {
				t.Errorf("%s, %v: %s, %q; want %s, which says that nothing is done, and why", path, err, is, got.Detail, want)
			}
		}
	}
}
