package schema

import (
	"slices"
	"strings"

	"github.com/foldql/foldql/keys"
)

// Half is one half of a key.
type Half struct {
	Layout   keys.Layout // how its keys are composed
	Fields   []*Field    // the composites: the field of each segment of Layout, in order
	Template string      // as the annotation writes it: post#{createdAt}#{n:16}; "" where it writes no template
}

// NewHalf is a half of a model with a table of its own: the values of fields, joined with a separator.
func NewHalf(sep string, fields ...*Field) Half {
	h := Half{Fields: fields, Layout: keys.Layout{Segments: SegmentsOf(fields)}}
	if len(fields) > 1 {
		h.Layout.Sep = sep
	}
	return h
}

// SegmentsOf are the segments of a key that is composed of the fields, in their order.
func SegmentsOf(fields []*Field) []keys.Segment {
	segments := make([]keys.Segment, len(fields))
	for i, f := range fields {
		segments[i] = keys.Segment{Field: f.Name, Kind: f.Kind()}
	}
	return segments
}

// Exists reports whether there is such a half at all; one that is composed of nothing exists in an entity.
func (h Half) Exists() bool { return h.Layout.Exists() }

// sorts reports whether the keys of the half are in the order of the values of one of its fields.
func (h Half) sorts(f *Field) bool {
	i := slices.Index(h.Fields, f)
	return i < 0 || h.Layout.Segments[i].Digits != keys.Unpadded
}

// Composites are the fields of two halves without repeats.
func Composites(halves ...Half) []*Field {
	var all []*Field
	for _, h := range halves {
		for _, f := range h.Fields {
			if !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
	}
	return all
}

// Casing is the casing of the values of the half, as annotations write it.
func (h Half) Casing() string {
	for name, c := range Casings {
		if h.Layout.Casing == c {
			return name
		}
	}
	return NoCasing
}

// Text is the half as a template, in its casing.
func (h Half) Text() string {
	var parts []string
	if h.Layout.Head != "" {
		parts = append(parts, h.Layout.Head)
	}
	for _, s := range h.Layout.Segments {
		parts = append(parts, s.Before+"{"+s.Field+"}")
	}
	if h.Layout.Tail != "" {
		parts = append(parts, h.Layout.Tail)
	}
	return strings.Join(parts, h.Layout.Sep)
}

// Describe says what a half is composed of: "orderId", "the composite of environment and pluginName".
func (h Half) Describe() string {
	switch len(h.Fields) {
	case 0:
		return "empty"
	case 1:
		return h.Fields[0].Name
	}
	names := make([]string, len(h.Fields))
	for i, f := range h.Fields {
		names[i] = f.Name
	}
	return "the composite of " + strings.Join(names, " and ")
}
