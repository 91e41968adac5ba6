package client

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"time"
)

// TestAnAnswerThatStaysAwayIsGivenUp, before it begins and amid it.
func TestAnAnswerThatStaysAwayIsGivenUp(t *testing.T) {
	const short = 50 * time.Millisecond
	for sent, idle := range map[string]Idle{"": {short, time.Hour}, "a part": {time.Hour, short}} {
		hung := at(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice that the client is gone
			if sent != "" {
				_, _ = io.WriteString(w, sent)
				_ = http.NewResponseController(w).Flush()
			}
			<-r.Context().Done()
		})
		got, err := readWithin(t, hung, idle)
		if why := (*silentError)(nil); !errors.As(err, &why) || why.quiet != short || got != sent {
			t.Errorf("after %q: got %q, error %v", sent, got, err)
		}
	}
}

func TestAnAnswerThatComesInTimeIsReadWhole(t *testing.T) {
	c := at(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "all") })
	if got, err := readWithin(t, c, Idle{time.Hour, time.Hour}); got != "all" || err != nil {
		t.Errorf("got %q, error %v", got, err)
	}
}

func readWithin(t *testing.T, c *Client, idle Idle) (string, error) {
	t.Helper()
	from, err := c.StreamWithin(t.Context(), "/x", []byte("{}"), idle)
	if err != nil {
		return "", err
	}
	defer from.Close()
	got, err := io.ReadAll(from)
	return string(got), err
}
