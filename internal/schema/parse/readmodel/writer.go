package readmodel

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/vektah/gqlparser/v2/ast"
)

// writerReader reads which projectors write a read model, and which fields of it.
type writerReader struct{ *draft.Model }

// readWriters reads what each annotation says of a projector.
func (d *writerReader) readWriters() {
	for _, m := range d.Marks {
		w := &schema.Writer{
			Projector: d.Name, StateView: m.Name == "stateView", Events: sdl.List(m, "events"), Tags: sdl.List(m, "tags"),
			Pos: sdl.Position(m.Position),
		}
		w.Stream, _ = sdl.Text(m, "stream")
		if projector, ok := sdl.Text(m, "projector"); ok {
			w.Projector = projector
		}
		d.Writers = append(d.Writers, w)
		d.checkWriter(m, w)
	}
	first := d.Writers[0]
	d.StateView, d.Events, d.Stream, d.Tags, d.Projector = first.StateView, first.Events, first.Stream, first.Tags,
		first.Projector
}

func (d *writerReader) checkWriter(m *ast.Directive, w *schema.Writer) {
	if m.Arguments.ForName("projector") != nil && !draft.ProjectorPattern.MatchString(w.Projector) {
		d.Report(rule.ProjectorName, sdl.ArgumentPosition(m, "projector"), nil, strconv.Quote(w.Projector))
	}
	if _, err := url.Parse(w.Stream); err != nil || strings.ContainsAny(w.Stream, " \t\r\n") {
		d.Report(rule.StreamForm, sdl.ArgumentPosition(m, "stream"), nil, strconv.Quote(w.Stream))
	}
	for _, e := range w.Events {
		if def := d.Project.Events.Named[e]; def == nil || def.Kind != ast.Object {
			d.Report(rule.UnknownEvent, sdl.ArgumentPosition(m, "events"), nil, e, d.Project.MeantEvent(e))
		} else if def.Directives.ForName("retired") != nil {
			d.Report(rule.TakesRetired, sdl.ArgumentPosition(m, "events"), nil, e)
		}
	}
	if len(d.Marks) == 1 {
		return
	}
	for _, argument := range []string{"projector", "writes"} {
		if m.Arguments.ForName(argument) == nil {
			d.Report(rule.WriterIncomplete, sdl.Position(m.Position), nil, argument)
		}
	}
}

// readWrites reads which fields each projector writes. The primary key and the times of the row are known by now.
func (d *writerReader) readWrites() {
	key := schema.Composites(d.PK, d.SK)
	owners := map[*schema.Field]*schema.Writer{}
	for i, m := range d.Marks {
		w := d.Writers[i]
		if m.Arguments.ForName("writes") == nil {
			if len(d.Marks) == 1 {
				w.Writes = slices.DeleteFunc(slices.Clone(d.Fields), func(f *schema.Field) bool {
					return slices.Contains(key, f) || f.IsCopy()
				})
			}
			continue
		}
		pos := sdl.ArgumentPosition(m, "writes")
		for _, name := range sdl.List(m, "writes") {
			f := d.Field(name)
			switch {
			case f == nil:
				d.Report(rule.WritesUnknown, pos, nil, w.Projector, name)
			case f.IsCopy():
				d.Report(rule.WritesCopy, pos, f, w.Projector, d.Reference(f).ID.Name)
			case slices.Contains(key, f):
				d.Report(rule.WritesKey, pos, f, w.Projector)
			case owners[f] != nil:
				d.Report(rule.WritesTwice, pos, f, w.Projector, owners[f].Projector)
			default:
				owners[f] = w
				w.Writes = append(w.Writes, f)
			}
		}
		slices.SortFunc(w.Writes, func(a, b *schema.Field) int { return a.Ordinal - b.Ordinal })
	}
	d.checkOwners(key, owners)
}

// checkOwners finds fields that nobody writes, or that a row may lack which another projector made, and halves of
// indexes that two projectors would write.
func (d *writerReader) checkOwners(key []*schema.Field, owners map[*schema.Field]*schema.Writer) {
	if slices.ContainsFunc(d.Marks, func(m *ast.Directive) bool { return m.Arguments.ForName("writes") == nil }) {
		return // one writes all, or it is reported that it does not say what
	}
	for _, f := range d.Fields {
		switch w := owners[f]; {
		case slices.Contains(key, f) || f.IsCopy():
		case w == nil && f == d.CreatedAt:
			d.Report(rule.TimeUnwritten, f.Pos, f, "createdAt")
		case w == nil && f == d.UpdatedAt:
			d.Report(rule.TimeUnwritten, f.Pos, f, "updatedAt")
		case w == nil:
			d.Report(rule.Unwritten, f.Pos, f)
		case !f.Nullable && len(d.Marks) > 1:
			d.Report(rule.WritesNullable, f.Pos, f, w.Projector)
		}
	}
	for _, x := range d.Indexes {
		d.checkHalfOwner(x, "partition key", x.PK, owners)
		d.checkHalfOwner(x, "sort key", x.SK, owners)
	}
}

func (d *writerReader) checkHalfOwner(x *schema.Index, what string, h schema.Half,
	owners map[*schema.Field]*schema.Writer) {
	var first *schema.Field
	for _, f := range h.Fields {
		switch {
		case owners[f] == nil:
		case first == nil:
			first = f
		case owners[f] != owners[first]:
			d.Report(rule.HalfOwners, x.Pos, f, what, x.As, owners[f].Projector, first.Name, owners[first].Projector)
		}
	}
}
