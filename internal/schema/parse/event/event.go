// Package event reads the schema of the events: which types are events, which stand inside of them, and their tags.
package event

import (
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/vektah/gqlparser/v2/ast"
)

// eventReader reads the schema of the events.
type eventReader struct{ *draft.Project }

// Read reads the schema of the events into the Model.
func Read(p *draft.Project) { (&eventReader{p}).read() }

// read reads the schema of the events. An object type is an event when a read model takes it, no other type holds it,
// or it has @event; the others are values inside of events. Enums may be declared on either side.
func (l *eventReader) read() {
	types := map[string]*schema.EventType{}
	var objects []*ast.Definition
	for _, def := range l.Events.Types {
		switch def.Kind {
		case ast.Object:
			types[def.Name] = &schema.EventType{
				Name: def.Name, Description: def.Description, Version: 1, Pos: sdl.Position(def.Position),
			}
			objects = append(objects, def)
			if len(def.Interfaces) > 0 {
				l.Add(rule.EventImplements.Broken(sdl.Position(def.Position), def.Name, "", strings.Join(def.Interfaces, " & ")))
			}
		case ast.Enum:
		default:
			l.Add(rule.EventKind.Broken(sdl.Position(def.Position), def.Name, "", sdl.KindName(def.Kind)))
		}
	}
	for _, def := range objects {
		for _, f := range def.Fields {
			l.readEventField(types, types[def.Name], f)
		}
	}
	l.classify(objects, types)
	for _, def := range objects {
		l.checkEventTags(types[def.Name], def)
		l.checkCycle(types[def.Name])
	}
	l.readEventEnums()
	l.readFormerNames(objects, types)
	l.readVersions(objects, types)
	l.readDefaults(objects, types)
}

func (l *eventReader) readEventField(types map[string]*schema.EventType, t *schema.EventType,
	def *ast.FieldDefinition) {
	s := sdl.TypeRefOf(def.Type)
	f := &schema.EventField{
		Name: def.Name, Description: def.Description, List: s.List, Nullable: s.Nullable, ElemNullable: s.ElemNullable,
		PartitionTag: def.Directives.ForName("partitionTag") != nil, Tag: def.Directives.ForName("tag") != nil,
		Deprecated: sdl.Deprecation(def), Pos: sdl.Position(def.Position),
	}
	t.Fields = append(t.Fields, f)
	pos := sdl.Position(def.Type.Position)
	if len(def.Arguments) > 0 {
		l.Add(rule.EventArguments.Broken(f.Pos, t.Name, f.Name))
	}
	if s.Nested {
		l.Add(rule.NestedList.Broken(pos, t.Name, f.Name))
		return
	}
	if slices.Contains(sdl.ScalarNames, s.Name) {
		f.Scalar = s.Name
		return
	}
	held := l.eventType(s.Name)
	switch {
	case held == nil:
		l.Add(rule.UnknownType.Broken(pos, t.Name, f.Name, s.Name, sdl.SuggestType(s.Name, l.Events)))
	case held.Kind == ast.Enum:
		f.Scalar, f.Enum = "String", s.Name
	case held.Kind == ast.Object:
		f.Object = types[s.Name]
	default:
		l.Add(rule.EventAbstract.Broken(pos, t.Name, f.Name, sdl.KindName(held.Kind)))
	}
}

// eventType finds a type that a field of an event may have: of the events' schema, or an enum of the read models'.
func (l *eventReader) eventType(name string) *ast.Definition {
	if def := l.Events.Named[name]; def != nil {
		return def
	}
	if def := l.API.Named[name]; def != nil && def.Kind == ast.Enum {
		return def
	}
	return nil
}

// classify tells events from values.
func (l *eventReader) classify(objects []*ast.Definition, types map[string]*schema.EventType) {
	taken, held := map[string]bool{}, map[*schema.EventType]bool{}
	for _, def := range l.API.Types {
		for _, d := range def.Directives {
			if sdl.IsModelMark(d.Name) {
				for _, e := range sdl.List(d, "events") {
					taken[e] = true
				}
			}
		}
	}
	for _, t := range types {
		for _, f := range t.Fields {
			if f.Object != t {
				held[f.Object] = true
			}
		}
	}
	for _, def := range objects {
		t := types[def.Name]
		switch {
		case def.Directives.ForName("retired") != nil:
			l.Model.Retired = append(l.Model.Retired, t)
		case taken[def.Name] || !held[t] || def.Directives.ForName("event") != nil:
			l.Model.Events = append(l.Model.Events, t)
		default:
			l.Model.Values = append(l.Model.Values, t)
		}
	}
	l.checkUnused()
	l.keepUsed()
}

// checkUnused warns of values that hold one another and are in no event.
func (l *eventReader) checkUnused() {
	used := usedBy(slices.Concat(l.Model.Events, l.Model.Retired))
	for _, v := range l.Model.Values {
		if !used[v] {
			l.Add(rule.EventUnused.Broken(v.Pos, v.Name, ""))
		}
	}
}

// usedBy are the events, and all that is inside of them.
func usedBy(events []*schema.EventType) map[*schema.EventType]bool {
	used := map[*schema.EventType]bool{}
	var use func(t *schema.EventType)
	use = func(t *schema.EventType) {
		if t == nil || used[t] {
			return
		}
		used[t] = true
		for _, f := range t.Fields {
			use(f.Object)
		}
	}
	for _, e := range events {
		use(e)
	}
	return used
}

func (l *eventReader) checkEventTags(t *schema.EventType, def *ast.Definition) {
	partition := ""
	for i, f := range t.Fields {
		if !f.PartitionTag && !f.Tag {
			continue
		}
		pos := f.Pos
		for _, d := range def.Fields[i].Directives {
			if d.Name == "tag" || d.Name == "partitionTag" {
				pos = sdl.Position(d.Position)
			}
		}
		switch {
		case f.PartitionTag && f.Tag:
			l.Add(rule.TagTwice.Broken(pos, t.Name, f.Name))
		case f.List:
			l.Add(rule.TagType.Broken(pos, t.Name, f.Name, "a list"))
		case f.Object != nil:
			l.Add(rule.TagType.Broken(pos, t.Name, f.Name, "an object"))
		case slices.Contains(l.Model.Values, t):
			l.Add(rule.TagNested.Broken(pos, t.Name, f.Name))
		case f.PartitionTag && partition != "":
			l.Add(rule.TwoPartitions.Broken(pos, t.Name, f.Name, partition))
		}
		if f.PartitionTag && partition == "" {
			partition = f.Name
		}
	}
}

// checkCycle finds a type that contains itself without end: through fields that are neither null nor a list. The first
// type of the cycle in order of declaration reports it.
func (l *eventReader) checkCycle(start *schema.EventType) {
	var path []string
	seen := map[*schema.EventType]bool{}
	var walk func(t *schema.EventType) bool
	walk = func(t *schema.EventType) bool {
		seen[t] = true
		for _, f := range t.Fields {
			if f.Object == nil || f.List || f.Nullable {
				continue
			}
			path = append(path, t.Name+"."+f.Name)
			if f.Object == start || !seen[f.Object] && walk(f.Object) {
				return true
			}
			path = path[:len(path)-1]
		}
		return false
	}
	if walk(start) {
		field := strings.TrimPrefix(path[0], start.Name+".")
		i := slices.IndexFunc(start.Fields, func(f *schema.EventField) bool { return f.Name == field })
		l.Add(rule.EventCycle.Broken(start.Fields[i].Pos, start.Name, field, start.Name, strings.Join(path, ", ")))
	}
}

// readEventEnums adds the enums of events, in order of declaration, those of the read models' schema last.
func (l *eventReader) readEventEnums() {
	used := map[string]bool{}
	for _, t := range slices.Concat(l.Model.Events, l.Model.Values) {
		for _, f := range t.Fields {
			if f.Enum != "" {
				used[f.Enum] = true
			}
		}
	}
	for _, doc := range []*sdl.Document{l.Events, l.API} {
		for _, def := range doc.Types {
			if def.Kind == ast.Enum && used[def.Name] {
				l.Model.EventEnums = append(l.Model.EventEnums, sdl.NewEnum(def))
				delete(used, def.Name)
			}
		}
	}
}
