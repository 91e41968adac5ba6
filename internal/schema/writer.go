package schema

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// writerReader reads which projectors write a read model, and which fields of it.
type writerReader struct{ *ModelDraft }

// readWriters reads what each annotation says of a projector.
func (d *writerReader) readWriters() {
	for _, m := range d.marks {
		w := &Writer{
			Projector: d.Name, StateView: m.Name == "stateView", Events: listOf(m, "events"), Tags: listOf(m, "tags"),
			Pos: at(m.Position),
		}
		w.Stream, _ = textOf(m, "stream")
		if projector, ok := textOf(m, "projector"); ok {
			w.Projector = projector
		}
		d.Writers = append(d.Writers, w)
		d.checkWriter(m, w)
	}
	first := d.Writers[0]
	d.StateView, d.Events, d.Stream, d.Tags, d.Projector = first.StateView, first.Events, first.Stream, first.Tags, first.Projector
}

func (d *writerReader) checkWriter(m *ast.Directive, w *Writer) {
	if m.Arguments.ForName("projector") != nil && !projectorPattern.MatchString(w.Projector) {
		d.report(projectorName, argumentPos(m, "projector"), nil, strconv.Quote(w.Projector))
	}
	if _, err := url.Parse(w.Stream); err != nil || strings.ContainsAny(w.Stream, " \t\r\n") {
		d.report(streamForm, argumentPos(m, "stream"), nil, strconv.Quote(w.Stream))
	}
	for _, e := range w.Events {
		if def := d.project.events.named[e]; def == nil || def.Kind != ast.Object {
			d.report(unknownEvent, argumentPos(m, "events"), nil, e, d.project.meantEvent(e))
		}
	}
	if len(d.marks) == 1 {
		return
	}
	for _, argument := range []string{"projector", "writes"} {
		if m.Arguments.ForName(argument) == nil {
			d.report(writerIncomplete, at(m.Position), nil, argument)
		}
	}
}

// readWrites reads which fields each projector writes. The primary key is known by now.
func (d *writerReader) readWrites() {
	key := composites(d.PK, d.SK)
	owners := map[*Field]*Writer{}
	for i, m := range d.marks {
		w := d.Writers[i]
		if m.Arguments.ForName("writes") == nil {
			if len(d.marks) == 1 {
				w.Writes = slices.DeleteFunc(slices.Clone(d.Fields), func(f *Field) bool { return slices.Contains(key, f) })
			}
			continue
		}
		pos := argumentPos(m, "writes")
		for _, name := range listOf(m, "writes") {
			f := d.field(name)
			switch {
			case f == nil:
				d.report(writesUnknown, pos, nil, w.Projector, name)
			case slices.Contains(key, f):
				d.report(writesKey, pos, f, w.Projector)
			case owners[f] != nil:
				d.report(writesTwice, pos, f, w.Projector, owners[f].Projector)
			default:
				owners[f] = w
				w.Writes = append(w.Writes, f)
			}
		}
		slices.SortFunc(w.Writes, func(a, b *Field) int { return a.Ordinal - b.Ordinal })
	}
	d.checkOwners(key, owners)
}

// checkOwners finds fields that nobody writes, or that a row may lack which another projector made, and halves of indexes that two projectors would write.
func (d *writerReader) checkOwners(key []*Field, owners map[*Field]*Writer) {
	if slices.ContainsFunc(d.marks, func(m *ast.Directive) bool { return m.Arguments.ForName("writes") == nil }) {
		return // one writes all, or it is reported that it does not say what
	}
	for _, f := range d.Fields {
		switch w := owners[f]; {
		case slices.Contains(key, f):
		case w == nil:
			d.report(unwritten, f.Pos, f)
		case !f.Nullable && len(d.marks) > 1:
			d.report(writesNullable, f.Pos, f, w.Projector)
		}
	}
	for _, x := range d.Indexes {
		d.checkHalfOwner(x, "partition key", x.PK, owners)
		d.checkHalfOwner(x, "sort key", x.SK, owners)
	}
}

func (d *writerReader) checkHalfOwner(x *Index, what string, h Half, owners map[*Field]*Writer) {
	var first *Field
	for _, f := range h.Fields {
		switch {
		case owners[f] == nil:
		case first == nil:
			first = f
		case owners[f] != owners[first]:
			d.report(halfOwners, x.Pos, f, what, x.As, owners[f].Projector, first.Name, owners[first].Projector)
		}
	}
}
