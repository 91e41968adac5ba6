package projectiontest_test

import (
	"testing"
	"time"

	"github.com/foldql/foldql/projection/internal/script"
	"github.com/foldql/foldql/projection/projectiontest"
)

// A test of a projector: two events about one row, and the row that they leave. Everything else, from events delivered
// twice to a process that stops between them, Run tries by itself.
func Example() {
	TestScript := func(t *testing.T) {
		projectiontest.Run(t, projectiontest.Spec[script.Row]{
			Projection: script.Projection("script"),
			Codec:      script.Codec,
			Given: []projectiontest.Event{
				{Type: "Script", Time: "2024-01-15T10:30:00Z",
					Data: `{"steps": [{"op": "set", "id": "a", "version": "v1", "total": 1}]}`},
				{Type: "Script", Time: "2024-01-15T10:31:00Z",
					Data: `{"steps": [{"op": "update", "id": "a", "version": "v1", "total": 2}]}`},
			},
			Want: []script.Row{{
				ID:        "a",
				Version:   "v1",
				Total:     3,
				CreatedAt: time.Date(2024, 1, 15, 10, 30, 0, 0, time.UTC),
				UpdatedAt: time.Date(2024, 1, 15, 10, 31, 0, 0, time.UTC),
			}},
		})
	}
	testing.RunTests(matchAll, []testing.InternalTest{{Name: "TestScript", F: TestScript}})
	// Output:
}

func matchAll(_, _ string) (bool, error) { return true, nil }
