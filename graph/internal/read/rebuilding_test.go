package read

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/foldql/foldql/querydb"
)

// TestRowsThatAreBuiltAreSaidToWaitForTheSwitch: nothing is left to be folded, so no time is told.
func TestRowsThatAreBuiltAreSaidToWaitForTheSwitch(t *testing.T) {
	err := Errors{slog.New(slog.DiscardHandler)}.Read(t.Context(), &querydb.NotRebuiltError{
		Model: "Customer", Progress: querydb.Progress{Folded: 120, Total: 120, ETASeconds: -1, Waits: true},
	}, "Customer")
	var gql *gqlerror.Error
	if !errors.As(err, &gql) || !strings.Contains(gql.Message, "120 of 120 events so far") ||
		!strings.Contains(gql.Message, "wait for the switch") {
		t.Fatal(err)
	}
	want := map[string]any{"code": "REBUILDING", "rebuild": map[string]any{
		"model": "Customer", "folded": uint64(120), "total": uint64(120), "stopped": false, "waits": true,
	}}
	if diff := cmp.Diff(want, gql.Extensions); diff != "" {
		t.Errorf("extensions (-want +got):\n%s", diff)
	}
}
