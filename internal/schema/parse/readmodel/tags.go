package readmodel

import (
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
)

// tagChecker holds the tags of a read model against its events.
type tagChecker struct{ *draft.Model }

// checkTags holds the tags of each @stateView against its events.
func (d *tagChecker) checkTags() {
	for i, w := range d.Writers {
		d.checkTagsOf(w, sdl.ArgumentPosition(d.Marks[i], "tags"))
	}
}

func (d *tagChecker) checkTagsOf(w *schema.Writer, pos schema.Pos) {
	values := map[string]bool{}
	for _, tag := range w.Tags {
		field, value, ok := strings.Cut(tag, ":")
		switch {
		case !ok || field == "" || value == "":
			d.Report(rule.TagForm, pos, nil, "\""+tag+"\"")
			continue
		case values[field]:
			d.Report(rule.TagsContradict, pos, nil, field)
			continue
		}
		values[field] = true
		d.checkTag(w, field, pos)
	}
}

func (d *tagChecker) checkTag(w *schema.Writer, field string, pos schema.Pos) {
	var without []string
	tagged := false
	for _, name := range w.Events {
		i := slices.IndexFunc(d.Project.Model.Events, func(e *schema.EventType) bool { return e.Name == name })
		if i < 0 {
			continue // reported as unknown
		}
		has := slices.ContainsFunc(d.Project.Model.Events[i].Fields, func(f *schema.EventField) bool {
			return f.Name == field && (f.Tag || f.PartitionTag)
		})
		if has {
			tagged = true
		} else {
			without = append(without, name)
		}
	}
	if !tagged {
		d.Report(rule.TagUnknown, pos, nil, "\""+field+"\"", field)
		return
	}
	for _, name := range without {
		d.Report(rule.TagExcludes, pos, nil, name, field)
	}
}
