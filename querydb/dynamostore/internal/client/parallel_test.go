package client

import (
	"context"
	"strings"
	"testing"
)

// TestAPanicOfOneOfManyRequestsIsTheCallers: it can recover from it there.
func TestAPanicOfOneOfManyRequestsIsTheCallers(t *testing.T) {
	c := &Client{Options: Options{Concurrency: 4}}
	defer func() {
		if v, is := recover().(string); !is || !strings.HasPrefix(v, "request 3 is wrong\n") {
			t.Errorf("recovered %v, want the panic of request 3 and its stack", v)
		}
	}()
	err := c.Each(t.Context(), 8, func(_ context.Context, i int) error {
		if i == 3 {
			panic("request 3 is wrong")
		}
		return nil
	})
	t.Errorf("Each returns %v, want a panic", err)
}
