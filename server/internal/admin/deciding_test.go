package admin

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
)

// TestNothingIsDecidedByARequestThatIsNotWhole, also where what has come of it could be decided.
func TestNothingIsDecidedByARequestThatIsNotWhole(t *testing.T) {
	const decision = `{"projection": "Tasks", "all": true}`
	for name, c := range map[string]struct {
		body  io.Reader
		whole bool
		says  string
	}{
		"whole": {strings.NewReader(decision), true, ""},
		"broken off": {io.MultiReader(strings.NewReader(decision), iotest.ErrReader(io.ErrUnexpectedEOF)), false,
			"unexpected EOF"},
		"too large": {strings.NewReader(decision + strings.Repeat(" ", usualBody)), false, "too large"},
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
			if !c.whole && (answer.Code != http.StatusBadRequest || !strings.Contains(answer.Body.String(), c.says)) {
				t.Errorf("the answer is %d %s, want that it is %s", answer.Code, answer.Body, c.says)
			}
		})
	}
}
