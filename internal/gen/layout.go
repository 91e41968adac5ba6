package gen

import (
	"fmt"
	"slices"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/keys"
)

// kinds are the kinds of values, by the constants of package keys that generated code calls them by.
var kinds = map[string]keys.Kind{
	"KindString": keys.KindString, "KindBoolean": keys.KindBoolean, "KindInt": keys.KindInt, "KindFloat": keys.KindFloat,
	"KindDecimal": keys.KindDecimal, "KindDate": keys.KindDate, "KindDateTime": keys.KindDateTime,
}

// casings are those that change a key, with the constants of package keys.
var casings = map[string]struct {
	casing keys.Casing
	name   string
}{"LOWERCASE": {keys.CasingLower, "CasingLower"}, "UPPERCASE": {keys.CasingUpper, "CasingUpper"}}

// layoutOf says how the keys of a half are composed.
func layoutOf(h schema.Half) (keys.Layout, error) {
	if h.Style == schema.TemplateStyle {
		return templateLayout(h)
	}
	l := keys.Layout{Head: h.Head}
	if h.Style == schema.ReadModelStyle {
		for _, field := range h.Fields {
			l.Segments = append(l.Segments, keys.Segment{Field: field.Name, Kind: kindOf(field)})
		}
	}
	for _, s := range h.Segments {
		l.Segments = append(l.Segments, keys.Segment{Field: s.Field.Name, Kind: kindOf(s.Field), Before: s.Name + "_"})
	}
	if len(l.Segments) > 1 || len(l.Segments) == 1 && l.Head != "" {
		l.Sep = h.Sep
	}
	return cased(l, h), nil
}

func templateLayout(h schema.Half) (keys.Layout, error) {
	l, err := keys.Template(h.Template, casings[h.Casing].casing, func(name string) keys.Kind {
		i := slices.IndexFunc(h.Fields, func(f *schema.Field) bool { return f.Name == name })
		if i < 0 {
			return 0
		}
		return kindOf(h.Fields[i])
	})
	if err != nil {
		return keys.Layout{}, err
	}
	return cased(l, h), nil
}

// cased gives a layout that composes values their casing and what becomes of separators in them.
func cased(l keys.Layout, h schema.Half) keys.Layout {
	if len(l.Segments) == 0 {
		return keys.Layout{Head: l.Head}
	}
	l.Casing = casings[h.Casing].casing
	if h.Style != schema.ReadModelStyle && !h.Escape {
		l.Escape = keys.EscapeNone
	}
	return l
}

func kindOf(field *schema.Field) keys.Kind { return kinds[scalarOf(field, "").kind] }

// truncates reports whether a partial write can leave a row of the entity under the leading fields of the sort half of an
// index: it knows the fields of the primary key, and may be about any of the others.
func truncates(r *schema.ReadModel, x *schema.Index) bool {
	known := keyFields(r)
	return r.Entity != nil && len(x.SK.Fields) > 1 &&
		slices.ContainsFunc(x.SK.Fields[1:], func(f *schema.Field) bool { return !slices.Contains(known, f) })
}

// half writes one half of a key, unless it does not exist. settings are further fields of the half.
func (f *goFile) half(name string, h schema.Half, truncates bool, settings ...string) {
	if !h.Exists() {
		return
	}
	l, err := layoutOf(h)
	if err != nil {
		f.err = fmt.Errorf("lay out the key %q, which is a bug of foldql: %w", h.Template, err)
		return
	}
	l.Truncates = truncates
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

// layout writes a layout.
func (f *goFile) layout(l keys.Layout, h schema.Half) {
	f.line("Layout: keys.Layout{")
	if l.Head != "" {
		f.line("Head: %q,", l.Head)
	}
	if len(l.Segments) > 0 {
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
	if c := casings[h.Casing]; l.Casing != keys.CasingNone {
		f.line("Casing: keys.%s,", c.name)
	}
	if l.Escape == keys.EscapeNone {
		f.line("Escape: keys.EscapeNone,")
	}
	if l.Truncates {
		f.line("Truncates: true,")
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
