package code

import (
	"fmt"
	"slices"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/keys"
)

// casings are the constants of package keys for those that change a key.
var casings = map[keys.Casing]string{keys.CasingLower: "CasingLower", keys.CasingUpper: "CasingUpper"}

// truncates reports whether a partial write can leave a row of the entity under the leading fields of the sort half of
// an index: it knows the fields of the primary key, and may be about any of the others.
func truncates(r *schema.ReadModel, x *schema.Index) bool {
	known := keyFields(r)
	return r.Entity != nil && r.Aggregate == nil && len(x.SK.Fields) > 1 &&
		slices.ContainsFunc(x.SK.Fields[1:], func(f *schema.Field) bool { return !slices.Contains(known, f) })
}

// half writes one half of a key, unless it does not exist. settings are further fields of the half.
func (f *tablesFile) half(name string, h schema.Half, truncates bool, settings ...string) {
	if !h.Exists() {
		return
	}
	l := h.Layout
	l.MayBeTruncated = truncates
	f.lib("keys")
	f.line("%s: querydb.Half{", name)
	f.layout(l, h)
	if len(h.Fields) > 0 {
		f.line("Fields: %s,", ints(ordinals(h.Fields)))
	}
	for _, s := range settings {
		f.line("%s,", s)
	}
	f.line("},")
}

// layout writes the layout of a half.
func (f *tablesFile) layout(l keys.Layout, h schema.Half) { f.layoutAs("Layout", l, h) }

// layoutAs writes a layout as a field of a struct.
func (f *tablesFile) layoutAs(name string, l keys.Layout, h schema.Half) {
	f.line("%s: keys.Layout{", name)
	if l.Head != "" {
		f.line("Head: %q,", l.Head)
	}
	if len(l.Segments) == 0 { // of which nothing else says anything
		l = keys.Layout{}
	} else {
		f.line("Segments: []keys.Segment{")
		for i, s := range l.Segments {
			f.line("{Field: %q, Kind: keys.%s%s},", s.Field, scalarOf(h.Fields[i], "").kind, segmentRest(s))
		}
		f.line("},")
	}
	if l.Tail != "" {
		f.line("Tail: %q,", l.Tail)
	}
	if l.Sep != "" {
		f.line("Sep: %q,", l.Sep)
	}
	if c := casings[l.Casing]; c != "" {
		f.line("Casing: keys.%s,", c)
	}
	if l.Escape == keys.EscapeNone {
		f.line("Escape: keys.EscapeNone,")
	}
	if l.MayBeTruncated {
		f.line("MayBeTruncated: true,")
	}
	f.line("},")
}

func segmentRest(s keys.Segment) (text string) {
	if s.Before != "" {
		text = fmt.Sprintf(", Before: %q", s.Before)
	}
	switch s.Digits {
	case 0:
		return text
	case keys.Unpadded:
		return text + ", Digits: keys.Unpadded"
	}
	return text + fmt.Sprintf(", Digits: %d", s.Digits)
}

func ordinals(fields []*schema.Field) []int {
	out := make([]int, len(fields))
	for i, field := range fields {
		out[i] = field.Ordinal
	}
	return out
}
