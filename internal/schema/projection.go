package schema

import "slices"

// indexDraft is an index while it is read: which field gave each of its arguments.
type indexDraft struct {
	*Index
	given map[string]marked
}

// readProjection reads what the entries of the index hold. include alone means INCLUDE.
func (d *ModelDraft) readProjection(x *indexDraft) {
	projection, projected := x.given["projection"]
	include, included := x.given["include"]
	if projected {
		x.Projection, _ = textOf(projection.dir, "projection")
	}
	switch {
	case included && !projected:
		x.Projection = "INCLUDE"
	case included && x.Projection != "INCLUDE":
		d.report(includeConflict, argumentPos(include.dir, "include"), include.field, x.As, x.Projection)
	case !included && x.Projection == "INCLUDE" && !slices.Contains(d.project.api.dropped[projection.dir], "include"):
		d.report(includeMissing, argumentPos(projection.dir, "projection"), projection.field, x.As)
	}
	if !included {
		return
	}
	for _, name := range listOf(include.dir, "include") {
		f := d.field(name)
		if f == nil {
			d.report(includeUnknown, argumentPos(include.dir, "include"), include.field, x.As, name)
			continue
		}
		x.Include = append(x.Include, f)
	}
}

func (d *ModelDraft) checkKeyField(f *Field, pos Pos) {
	if f.List {
		d.report(keyList, pos, f)
	}
}
