package draft

import (
	"slices"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
)

// IndexDraft is an index while it is read: which field gave each of its arguments.
type IndexDraft struct {
	*schema.Index
	Given map[string]Marked
}

// ReadProjection reads what the entries of the index hold. include alone means INCLUDE.
func (d *Model) ReadProjection(x *IndexDraft) {
	projection, projected := x.Given["projection"]
	include, included := x.Given["include"]
	if projected {
		x.Projection, _ = sdl.Text(projection.Dir, "projection")
	}
	switch {
	case included && !projected:
		x.Projection = "INCLUDE"
	case included && x.Projection != "INCLUDE":
		d.Report(rule.IncludeConflict, sdl.ArgumentPosition(include.Dir, "include"), include.Field, x.As, x.Projection)
	case !included && x.Projection == "INCLUDE" && !slices.Contains(d.Project.API.Dropped[projection.Dir], "include"):
		d.Report(rule.IncludeMissing, sdl.ArgumentPosition(projection.Dir, "projection"), projection.Field, x.As)
	}
	if !included {
		return
	}
	for _, name := range sdl.List(include.Dir, "include") {
		f := d.Field(name)
		if f == nil {
			d.Report(rule.IncludeUnknown, sdl.ArgumentPosition(include.Dir, "include"), include.Field, x.As, name)
			continue
		}
		x.Include = append(x.Include, f)
	}
}

// CheckKeyField reports a field that keys cannot have.
func (d *Model) CheckKeyField(f *schema.Field, pos schema.Pos) {
	switch {
	case f.List:
		d.Report(rule.KeyList, pos, f)
	case f.IsCopy():
		d.Report(rule.KeyCopy, pos, f, f.Object.CopyOf, d.Reference(f).ID.Name)
	case f.Object != nil:
		d.Report(rule.KeyObject, pos, f, f.Object.Name)
	}
}
