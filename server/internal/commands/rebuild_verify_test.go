package commands

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/foldql/foldql/server/internal/client"
)

// TestAVerificationByAServerThatHangsIsGivenUp, before its first line and amid it.
func TestAVerificationByAServerThatHangsIsGivenUp(t *testing.T) {
	defer func(usual client.Idle) { verifyIdle = usual }(verifyIdle)
	const short = 50 * time.Millisecond
	for sent, idle := range map[string]client.Idle{
		"": {First: short, Next: time.Hour}, `{"folded":1,"total":9}`: {First: time.Hour, Next: short},
	} {
		verifyIdle = idle
		hung := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice that the client is gone
			if sent != "" {
				_, _ = io.WriteString(w, sent)
				_ = http.NewResponseController(w).Flush()
			}
			<-r.Context().Done()
		}))
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // where nothing gives it up
		c := &rebuildVerify{Name: []string{"Task"}, Server: client.Server{URL: hung.URL}}
		err := c.remote(ctx, &Program{Stdout: io.Discard, Stderr: io.Discard})
		if err == nil || !strings.Contains(err.Error(), "has sent nothing for 50ms") {
			t.Errorf("after %q: error %v", sent, err)
		}
		cancel()
		hung.Close()
	}
}
