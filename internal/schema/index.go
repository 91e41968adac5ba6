package schema

import (
	"slices"
	"strconv"
)

// indexReader reads the indexes of a model with a table of its own.
type indexReader struct{ *ModelDraft }

// readIndexes reads @index and @indexSubId.
func (d *indexReader) readIndexes() {
	var drafts []*indexDraft
	for _, m := range d.marked("index") {
		drafts = d.readIndex(drafts, m)
	}
	for _, m := range d.marked("indexSubId") {
		d.readIndexSubID(drafts, m)
	}
	for _, x := range drafts {
		d.readProjection(x)
		d.settings[x.Index] = x.given
		d.Indexes = append(d.Indexes, x.Index)
	}
	if len(drafts) > 0 && len(d.PK.Fields) == 0 && len(d.marked("id")) == 0 {
		d.report(indexWithoutID, drafts[0].Pos, drafts[0].PK.Fields[0])
	}
}

// readIndex adds a field to the index that it names, or makes that index.
func (d *indexReader) readIndex(drafts []*indexDraft, m marked) []*indexDraft {
	name, named := textOf(m.dir, "name")
	if !named {
		name = m.field.Name
	}
	d.checkKeyField(m.field, at(m.dir.Position))
	if named && !namePattern.MatchString(name) {
		d.report(indexName, argumentPos(m.dir, "name"), m.field, strconv.Quote(name))
		return drafts
	}
	x := indexNamed(drafts, name)
	switch {
	case x == nil:
		x = &indexDraft{
			Index: &Index{
				As: name, Name: name, Unnamed: !named, Projection: "ALL", Policy: Policy{"PRESERVE", "PRESERVE"}, Pos: at(m.dir.Position),
			},
			given: map[string]marked{},
		}
		drafts = append(drafts, x)
	case slices.Contains(x.PK.Fields, m.field):
		d.report(indexRepeated, at(m.dir.Position), m.field, "index", name)
		return drafts
	case x.Unnamed || !named:
		d.report(indexNameTaken, at(m.dir.Position), m.field, name)
		return drafts
	}
	x.PK = newHalf(defaultSep, append(x.PK.Fields, m.field)...)
	d.readSettings(x, m)
	return drafts
}

func indexNamed(drafts []*indexDraft, name string) *indexDraft {
	i := slices.IndexFunc(drafts, func(x *indexDraft) bool { return x.Name == name })
	if i < 0 {
		return nil
	}
	return drafts[i]
}

// readSettings keeps the arguments that hold for the whole index; fields that repeat one have to agree.
func (d *indexReader) readSettings(x *indexDraft, m marked) {
	for _, a := range m.dir.Arguments {
		if a.Name == "name" {
			continue
		}
		first, given := x.given[a.Name]
		switch {
		case !given:
			x.given[a.Name] = m
		case first.dir.Arguments.ForName(a.Name).Value.String() != a.Value.String():
			d.report(indexConflict, at(a.Position), m.field, x.Name, a.Name, first.field.Name)
		}
	}
}

func (d *indexReader) readIndexSubID(drafts []*indexDraft, m marked) {
	name, _ := textOf(m.dir, "name")
	d.checkKeyField(m.field, at(m.dir.Position))
	x := indexNamed(drafts, name)
	switch {
	case x == nil:
		d.report(subIndexAlone, at(m.dir.Position), m.field, name)
	case slices.Contains(x.PK.Fields, m.field):
		d.report(indexHalves, at(m.dir.Position), m.field, name)
	case slices.Contains(x.SK.Fields, m.field):
		d.report(indexRepeated, at(m.dir.Position), m.field, "indexSubId", name)
	default:
		x.SK = newHalf(defaultSep, append(x.SK.Fields, m.field)...)
	}
}
