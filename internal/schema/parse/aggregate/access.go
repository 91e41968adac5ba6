package aggregate

import (
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
)

// ReadAccess reads @auth on fields of the parts of an aggregate. Its owner is known.
func ReadAccess(d *draft.Model) {
	if d.Aggregate == nil {
		return
	}
	seen := map[*draft.Part]bool{}
	for _, n := range d.Aggregate.Root.All() {
		if n.Edge == nil || n.Edge.Reference != nil {
			continue
		}
		part := d.Project.Parts[d.Project.API.Named[n.Edge.Field.Object.Name]]
		if !seen[part] {
			seen[part] = true
			readPartAccess(d, part)
		}
	}
}

func readPartAccess(d *draft.Model, part *draft.Part) {
	for _, m := range part.Marked("auth") {
		m.Field.Auth = part.AuthOf(m.Field)
		if !m.Field.Nullable {
			part.Report(rule.AuthNullable, sdl.Position(m.Dir.Position), m.Field)
		}
		if m.Field.Auth.Owner && d.Owner == nil {
			part.Report(rule.PartOwner, sdl.Position(m.Dir.Position), m.Field, d.Name)
		}
	}
}
