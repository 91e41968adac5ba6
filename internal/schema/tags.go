package schema

import (
	"slices"
	"strings"
)

// tagChecker holds the tags of a read model against its events.
type tagChecker struct{ *ModelDraft }

// checkTags holds the tags of each @stateView against its events.
func (d *tagChecker) checkTags() {
	for i, w := range d.Writers {
		d.checkTagsOf(w, argumentPos(d.marks[i], "tags"))
	}
}

func (d *tagChecker) checkTagsOf(w *Writer, pos Pos) {
	values := map[string]bool{}
	for _, tag := range w.Tags {
		field, value, ok := strings.Cut(tag, ":")
		switch {
		case !ok || field == "" || value == "":
			d.report(tagForm, pos, nil, "\""+tag+"\"")
			continue
		case values[field]:
			d.report(tagsContradict, pos, nil, field)
			continue
		}
		values[field] = true
		d.checkTag(w, field, pos)
	}
}

func (d *tagChecker) checkTag(w *Writer, field string, pos Pos) {
	var without []string
	tagged := false
	for _, name := range w.Events {
		i := slices.IndexFunc(d.project.model.Events, func(e *EventType) bool { return e.Name == name })
		if i < 0 {
			continue // reported as unknown
		}
		has := slices.ContainsFunc(d.project.model.Events[i].Fields, func(f *EventField) bool {
			return f.Name == field && (f.Tag || f.PartitionTag)
		})
		if has {
			tagged = true
		} else {
			without = append(without, name)
		}
	}
	if !tagged {
		d.report(tagUnknown, pos, nil, "\""+field+"\"", field)
		return
	}
	for _, name := range without {
		d.report(tagExcludes, pos, nil, name, field)
	}
}
