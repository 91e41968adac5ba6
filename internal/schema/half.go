package schema

import (
	"slices"

	"github.com/foldql/foldql/keys"
)

// Half is one half of a key.
type Half struct {
	Layout   keys.Layout // how its keys are composed
	Fields   []*Field    // the composites: the field of each segment of Layout, in order
	Template string      // as the annotation writes it: post#{createdAt}#{n:16}; "" where it writes no template
}

// newHalf is a half of a model with a table of its own: the values of fields, joined with a separator.
func newHalf(sep string, fields ...*Field) Half {
	h := Half{Fields: fields, Layout: keys.Layout{Segments: segmentsOf(fields)}}
	if len(fields) > 1 {
		h.Layout.Sep = sep
	}
	return h
}

func segmentsOf(fields []*Field) []keys.Segment {
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

// composites are the fields of two halves without repeats.
func composites(halves ...Half) []*Field {
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
