package ingest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/foldql/foldql/eventlog"
)

// undeclared says that an event has a type that is not declared, and which one it may be meant to have: the one that is
// most like it, at one letter of three.
func undeclared(name string, types eventlog.Types) string {
	told := fmt.Sprintf("no such event type is declared: %q", cut(name))
	if len(name) > longest {
		return told
	}
	best, least := "", max(1, len(name)/3)+1
	for _, known := range slices.Sorted(maps.Keys(types)) {
		if d := levenshtein.ComputeDistance(strings.ToLower(name), strings.ToLower(known)); d < least && d < len(name) {
			best, least = known, d
		}
	}
	if best == "" {
		return told
	}
	return told + "; did you mean " + best + "?"
}
