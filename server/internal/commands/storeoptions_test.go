package commands

import (
	"slices"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/server/internal/config"
)

// TestEveryFlagOfTheFoldIsKnown where it is refused.
func TestEveryFlagOfTheFoldIsKnown(t *testing.T) {
	var fold config.Fold
	parser, err := kong.New(&fold)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(slices.Sorted(slices.Values(FoldFlags)),
		slices.Sorted(slices.Values(config.FlagNames(parser.Model.Node)))); d != "" {
		t.Error(d)
	}
}
