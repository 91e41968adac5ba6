package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/keys"
)

// compareOrder compares in which order rows come, or which of them is the one that is taken.
func compareOrder(was, now *place) []Change {
	var former, present []origin
	for _, pair := range pairs(was, now) {
		former, present = append(former, pair[0]), append(present, pair[1])
	}
	before, after := was.order(former), now.order(present)
	switch {
	case len(before) == 0 || sameParts(before, after): // without a sort key, no order is promised
		return nil
	case was.isPage():
		what := fmt.Sprintf("has rows in the order of %s, and before in that of %s", partsText(after), partsText(before))
		return []Change{{Noticeable, was.at, what, "operations that select it"}}
	case len(after) == 0: // there is one row alone
		return nil
	}
	clients := "operations that select it"
	if len(was.args) > 0 { // they can name a row
		clients = "operations that leave " + was.origins[0].model.SubID() + " out"
	}
	end := "last"
	if was.query.Index != nil {
		end = "first"
	}
	what := fmt.Sprintf("has the %s row by %s, and before by %s", end, partsText(after), partsText(before))
	return []Change{{Noticeable, was.at, what, clients}}
}

// order is what rows of origins come in the order of, or what tells of several rows the one that is taken; nil where
// there is no order, or no other row.
func (p *place) order(origins []origin) (parts []part) {
	if p.query.Collection == nil {
		return p.orderIn(origins[0])
	}
	slices.SortFunc(origins, func(a, b origin) int { return strings.Compare(a.index.SK.Text(), b.index.SK.Text()) })
	for _, o := range origins {
		parts = append(append(parts, part{name: o.model.Name}), p.orderIn(o)...)
	}
	return parts
}

func (p *place) orderIn(o origin) []part {
	pk, sk := o.halves()
	switch {
	case o.model.SeriesOf != nil: // events of one time are in the order of the source
		return partsOf(o.model.SeriesOf.Series.OrderBy)
	case p.query.Many(), !p.isPage() && o.isWhole():
		return nil
	}
	fixed := slices.Concat(pk.Fields, p.joined)
	parts := partsOf(sk.Fields...)
	for i := range parts {
		parts[i].isText = sk.Layout.Segments[i].Digits == keys.Unpadded
	}
	return slices.DeleteFunc(parts, func(part part) bool {
		return slices.ContainsFunc(fixed, func(f *schema.Field) bool { return f.Name == part.name })
	})
}

// isWhole reports whether what names a row names no other: of an entity, the whole key.
func (o origin) isWhole() bool {
	if o.index != nil {
		return o.index.Unique
	}
	return o.model.Entity != nil
}

// part is a field as part of a key.
type part struct {
	name   string
	typ    string // "" for the name of a member of a collection
	kind   keys.Kind
	isText bool // it is a number that is not padded, and in the order of its text
}

func partsOf(fields ...*schema.Field) []part {
	parts := make([]part, len(fields))
	for i, f := range fields {
		parts[i] = part{name: f.Name, typ: schema.TypeText(f), kind: f.Kind()}
	}
	return parts
}

// sameParts reports whether parts make the same keys: of types of one kind.
func sameParts(was, now []part) bool {
	return slices.EqualFunc(was, now, func(a, b part) bool {
		a.typ = b.typ
		return a == b
	})
}

func partsText(parts []part) string {
	texts := make([]string, len(parts))
	for i, p := range parts {
		switch {
		case p.typ == "":
			texts[i] = p.name
		case p.isText:
			texts[i] = fmt.Sprintf("%s (%s, not padded)", p.name, p.typ)
		default:
			texts[i] = fmt.Sprintf("%s (%s)", p.name, p.typ)
		}
	}
	if len(texts) == 0 {
		return "no field"
	}
	return strings.Join(texts, ", ")
}
