package readmodel

import (
	"slices"
	"strconv"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
)

// indexReader reads the indexes of a model with a table of its own.
type indexReader struct{ *draft.Model }

// readIndexes reads @index and @indexSubId.
func (d *indexReader) readIndexes() {
	var drafts []*draft.IndexDraft
	for _, m := range d.Marked("index") {
		drafts = d.readIndex(drafts, m)
	}
	for _, m := range d.Marked("indexSubId") {
		d.readIndexSubID(drafts, m)
	}
	for _, x := range drafts {
		d.ReadProjection(x)
		d.Settings[x.Index] = x.Given
		d.Indexes = append(d.Indexes, x.Index)
	}
	if len(drafts) > 0 && len(d.PK.Fields) == 0 && len(d.Marked("id")) == 0 {
		d.Report(rule.IndexWithoutID, drafts[0].Pos, drafts[0].PK.Fields[0])
	}
}

// readIndex adds a field to the index that it names, or makes that index.
func (d *indexReader) readIndex(drafts []*draft.IndexDraft, m draft.Marked) []*draft.IndexDraft {
	name, named := sdl.Text(m.Dir, "name")
	if !named {
		name = m.Field.Name
	}
	d.CheckKeyField(m.Field, sdl.Position(m.Dir.Position))
	if named && !draft.NamePattern.MatchString(name) {
		d.Report(rule.IndexName, sdl.ArgumentPosition(m.Dir, "name"), m.Field, strconv.Quote(name))
		return drafts
	}
	x := indexNamed(drafts, name)
	switch {
	case x == nil:
		x = &draft.IndexDraft{
			Index: &schema.Index{
				As: name, Name: name, Unnamed: !named, Projection: "ALL",
				Policy: schema.Policy{PK: "PRESERVE", SK: "PRESERVE"}, Pos: sdl.Position(m.Dir.Position),
			},
			Given: map[string]draft.Marked{},
		}
		drafts = append(drafts, x)
	case slices.Contains(x.PK.Fields, m.Field):
		d.Report(rule.IndexRepeated, sdl.Position(m.Dir.Position), m.Field, "index", name)
		return drafts
	case x.Unnamed || !named:
		d.Report(rule.IndexNameTaken, sdl.Position(m.Dir.Position), m.Field, name)
		return drafts
	}
	x.PK = schema.NewHalf(defaultSep, append(x.PK.Fields, m.Field)...)
	d.readSettings(x, m)
	return drafts
}

func indexNamed(drafts []*draft.IndexDraft, name string) *draft.IndexDraft {
	i := slices.IndexFunc(drafts, func(x *draft.IndexDraft) bool { return x.Name == name })
	if i < 0 {
		return nil
	}
	return drafts[i]
}

// readSettings keeps the arguments that hold for the whole index; fields that repeat one have to agree.
func (d *indexReader) readSettings(x *draft.IndexDraft, m draft.Marked) {
	for _, a := range m.Dir.Arguments {
		if a.Name == "name" {
			continue
		}
		first, given := x.Given[a.Name]
		switch {
		case !given:
			x.Given[a.Name] = m
		case first.Dir.Arguments.ForName(a.Name).Value.String() != a.Value.String():
			d.Report(rule.IndexConflict, sdl.Position(a.Position), m.Field, x.Name, a.Name, first.Field.Name)
		}
	}
}

func (d *indexReader) readIndexSubID(drafts []*draft.IndexDraft, m draft.Marked) {
	name, _ := sdl.Text(m.Dir, "name")
	d.CheckKeyField(m.Field, sdl.Position(m.Dir.Position))
	x := indexNamed(drafts, name)
	switch {
	case x == nil:
		d.Report(rule.SubIndexAlone, sdl.Position(m.Dir.Position), m.Field, name)
	case slices.Contains(x.PK.Fields, m.Field):
		d.Report(rule.IndexHalves, sdl.Position(m.Dir.Position), m.Field, name)
	case slices.Contains(x.SK.Fields, m.Field):
		d.Report(rule.IndexRepeated, sdl.Position(m.Dir.Position), m.Field, "indexSubId", name)
	default:
		x.SK = schema.NewHalf(defaultSep, append(x.SK.Fields, m.Field)...)
	}
}
