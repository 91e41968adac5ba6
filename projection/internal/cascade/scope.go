package cascade

import (
	"maps"
	"slices"
)

// Scope says which copies are to follow a row. The zero Scope is those that follow by the schema.
type Scope struct {
	// Asked: an op has asked for it, by the models of the rows that hold the copies, none for all, and by what fields of
	// these rows hold.
	Asked   bool           `json:"asked,omitempty"`
	Targets []string       `json:"targets,omitempty"`
	Filter  map[string]any `json:"filter,omitempty"`
}

// Names reports whether the scope is about rows of the model.
func (s *Scope) Names(model string) bool {
	return len(s.Targets) == 0 || slices.Contains(s.Targets, model)
}

func (s *Scope) equal(o *Scope) bool {
	return s.Asked == o.Asked && slices.Equal(s.Targets, o.Targets) && maps.Equal(s.Filter, o.Filter)
}

// Union is the scopes of both lists, each once.
func Union(a, b []Scope) []Scope {
	all := slices.Clone(a)
	for _, s := range b {
		if !slices.ContainsFunc(all, func(has Scope) bool { return has.equal(&s) }) {
			all = append(all, s)
		}
	}
	return all
}

// ForTask is a list of scopes as a Task has it: none stand for the one by the schema.
func ForTask(scopes []Scope) []Scope {
	if len(scopes) == 1 && !scopes[0].Asked {
		return nil
	}
	return scopes
}

func orSchema(list []Scope) []Scope {
	if len(list) == 0 {
		return []Scope{{}}
	}
	return list
}

// Filters are the filters of those scopes of a task that are about rows of the model: by what an op has asked for. all
// says that one of them takes every row; schema, that the copies also follow that do so by the schema.
func (t *Task) Filters(model string) (filters []map[string]any, all, schema bool) {
	for _, s := range orSchema(t.Scopes) {
		switch {
		case !s.Asked:
			schema = true
		case !s.Names(model):
		case len(s.Filter) == 0:
			all = true
		default:
			filters = append(filters, s.Filter)
		}
	}
	return filters, all, schema
}
