package ingest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/foldql/foldql/eventlog"
)

// UndeclaredField is a field that data of events have and their type does not declare: no projector sees it.
type UndeclaredField struct {
	Type   string `json:"type"`
	Field  string `json:"field"`  // a path that begins with "data", without places in lists: "data.lines[].quantty"
	Events int    `json:"events"` // of the request that have it
}

// Undeclared are fields that types of events do not declare, the first eventlog.MaxUndeclared of them.
type Undeclared []UndeclaredField

// Add adds a field, or its events to those of the same field.
func (u *Undeclared) Add(field UndeclaredField) {
	same := func(f UndeclaredField) bool { return f.Type == field.Type && f.Field == field.Field }
	if at := slices.IndexFunc(*u, same); at >= 0 {
		(*u)[at].Events += field.Events
	} else if len(*u) < eventlog.MaxUndeclared {
		*u = append(*u, field)
	}
}

// undeclaredType says that an event has a type that is not declared, and which one it may be meant to have: the one
// that is most like it, at one letter of three.
func undeclaredType(name string, types eventlog.Types) string {
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
