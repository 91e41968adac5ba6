package lifecycle

import (
	"context"
	"errors"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
)

// cancelled makes every call with a context that has ended.
func cancelled(s *harness.Store) {
	s.Put(fixture.NewRow("p", "a"))
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	_, getErr := s.Driver.Get(ctx, driver.Get{Table: s.Table, Keys: []keys.Key{{PK: "p", SK: "a"}}})
	_, queryErr := s.Driver.Query(ctx, s.All(driver.Primary, "p"))
	applyErr := s.Driver.Apply(ctx, s.Puts(fixture.NewRow("p", "b")))
	for what, err := range map[string]error{"get": getErr, "query": queryErr, "apply": applyErr} {
		if !errors.Is(err, context.Canceled) {
			s.Errorf("%s: %v, want the context's error", what, err)
		}
	}
	s.WantSortKeys("afterwards", s.Query(s.All(driver.Primary, "p")).Rows, "a")
}

// closed makes every call after the store was closed, twice.
func closed(s *harness.Store) {
	s.Put(fixture.NewRow("p", "a"))
	for range 2 {
		if err := s.Driver.Close(); err != nil {
			s.Errorf("close: %v", err)
		}
	}
	_, getErr := s.Driver.Get(s.Context(), driver.Get{Table: s.Table, Keys: []keys.Key{{PK: "p", SK: "a"}}})
	_, queryErr := s.Driver.Query(s.Context(), s.All(driver.Primary, "p"))
	applyErr := s.Driver.Apply(s.Context(), s.Puts(fixture.NewRow("p", "b")))
	for what, err := range map[string]error{"get": getErr, "query": queryErr, "apply": applyErr} {
		if !errors.Is(err, driver.ErrUnavailable) {
			s.Errorf("%s: %v, want ErrUnavailable", what, err)
		}
	}
}
