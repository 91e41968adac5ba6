package admin

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"
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
		"too large": {strings.NewReader(decision + strings.Repeat(" ", usualBody)), false, http.StatusBadRequest,
			"too large"},
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
