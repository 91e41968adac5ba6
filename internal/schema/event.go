package schema

import (
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// eventReader reads the schema of the events.
type eventReader struct{ *Project }

// readEvents reads the schema of the events into the Model.
func readEvents(p *Project) { (&eventReader{p}).read() }

// read reads the schema of the events. An object type is an event when a read model takes it or no other type
// holds it; the others are values inside of events. Enums may be declared on either side.
func (l *eventReader) read() {
	types := map[string]*EventType{}
	var objects []*ast.Definition
	for _, def := range l.events.types {
		switch def.Kind {
		case ast.Object:
			types[def.Name] = &EventType{Name: def.Name, Description: def.Description, Pos: at(def.Position)}
			objects = append(objects, def)
			if len(def.Interfaces) > 0 {
				l.add(eventImplements.broken(at(def.Position), def.Name, "", strings.Join(def.Interfaces, " & ")))
			}
		case ast.Enum:
		default:
			l.add(eventKind.broken(at(def.Position), def.Name, "", kindName(def.Kind)))
		}
	}
	enums := map[string]bool{}
	for _, def := range objects {
		for _, f := range def.Fields {
			l.readEventField(types, enums, types[def.Name], f)
		}
	}
	l.classify(objects, types)
	for _, def := range objects {
		l.checkEventTags(types[def.Name], def)
		l.checkCycle(types[def.Name])
	}
	l.readEventEnums(enums)
}

func (l *eventReader) readEventField(types map[string]*EventType, enums map[string]bool, t *EventType, def *ast.FieldDefinition) {
	s := typeRefOf(def.Type)
	f := &EventField{
		Name: def.Name, Description: def.Description, List: s.list, Nullable: s.nullable, ElemNullable: s.elemNullable,
		PartitionTag: def.Directives.ForName("partitionTag") != nil, Tag: def.Directives.ForName("tag") != nil,
		Pos: at(def.Position),
	}
	t.Fields = append(t.Fields, f)
	pos := at(def.Type.Position)
	if len(def.Arguments) > 0 {
		l.add(eventArguments.broken(f.Pos, t.Name, f.Name))
	}
	if s.nested {
		l.add(nestedList.broken(pos, t.Name, f.Name))
		return
	}
	if slices.Contains(scalars, s.name) {
		f.Scalar = s.name
		return
	}
	held := l.eventType(s.name)
	switch {
	case held == nil:
		l.add(unknownType.broken(pos, t.Name, f.Name, s.name, meantType(s.name, l.events)))
	case held.Kind == ast.Enum:
		f.Scalar, f.Enum = "String", s.name
		enums[s.name] = true
	case held.Kind == ast.Object:
		f.Object = types[s.name]
	default:
		l.add(eventAbstract.broken(pos, t.Name, f.Name, kindName(held.Kind)))
	}
}

// eventType finds a type that a field of an event may have: of the events' schema, or an enum of the read models'.
func (l *eventReader) eventType(name string) *ast.Definition {
	if def := l.events.named[name]; def != nil {
		return def
	}
	if def := l.api.named[name]; def != nil && def.Kind == ast.Enum {
		return def
	}
	return nil
}

// classify tells events from values.
func (l *eventReader) classify(objects []*ast.Definition, types map[string]*EventType) {
	taken, held := map[string]bool{}, map[*EventType]bool{}
	for _, def := range l.api.types {
		for _, d := range def.Directives {
			if isModelMark(d.Name) {
				for _, e := range listOf(d, "events") {
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
		if taken[def.Name] || !held[t] {
			l.model.Events = append(l.model.Events, t)
		} else {
			l.model.Values = append(l.model.Values, t)
		}
	}
	l.checkUnused()
}

// checkUnused warns of values that hold one another and are in no event.
func (l *eventReader) checkUnused() {
	used := map[*EventType]bool{}
	var use func(t *EventType)
	use = func(t *EventType) {
		if t == nil || used[t] {
			return
		}
		used[t] = true
		for _, f := range t.Fields {
			use(f.Object)
		}
	}
	for _, e := range l.model.Events {
		use(e)
	}
	for _, v := range l.model.Values {
		if !used[v] {
			l.add(eventUnused.broken(v.Pos, v.Name, ""))
		}
	}
}

func (l *eventReader) checkEventTags(t *EventType, def *ast.Definition) {
	partition := ""
	for i, f := range t.Fields {
		if !f.PartitionTag && !f.Tag {
			continue
		}
		pos := f.Pos
		for _, d := range def.Fields[i].Directives {
			if d.Name == "tag" || d.Name == "partitionTag" {
				pos = at(d.Position)
			}
		}
		switch {
		case f.PartitionTag && f.Tag:
			l.add(tagTwice.broken(pos, t.Name, f.Name))
		case f.List:
			l.add(tagType.broken(pos, t.Name, f.Name, "a list"))
		case f.Object != nil:
			l.add(tagType.broken(pos, t.Name, f.Name, "an object"))
		case slices.Contains(l.model.Values, t):
			l.add(tagNested.broken(pos, t.Name, f.Name))
		case f.PartitionTag && partition != "":
			l.add(twoPartitions.broken(pos, t.Name, f.Name, partition))
		}
		if f.PartitionTag && partition == "" {
			partition = f.Name
		}
	}
}

// checkCycle finds a type that contains itself without end: through fields that are neither null nor a list. The first
// type of the cycle in order of declaration reports it.
func (l *eventReader) checkCycle(start *EventType) {
	var path []string
	seen := map[*EventType]bool{}
	var walk func(t *EventType) bool
	walk = func(t *EventType) bool {
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
		i := slices.IndexFunc(start.Fields, func(f *EventField) bool { return f.Name == field })
		l.add(eventCycle.broken(start.Fields[i].Pos, start.Name, field, start.Name, strings.Join(path, ", ")))
	}
}

// readEventEnums adds the enums of events, in order of declaration, those of the read models' schema last.
func (l *eventReader) readEventEnums(used map[string]bool) {
	for _, doc := range []*document{l.events, l.api} {
		for _, def := range doc.types {
			if def.Kind == ast.Enum && used[def.Name] {
				l.model.EventEnums = append(l.model.EventEnums, newEnum(def))
				delete(used, def.Name)
			}
		}
	}
}
