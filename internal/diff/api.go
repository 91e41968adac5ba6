package diff

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// apiDiff compares two schemas as they are served.
type apiDiff struct {
	was, now *ast.Schema
	sent     map[string]bool // names of types that clients of the former schema send
	changes  []Change
}

func compareAPI(was, now *ast.Schema) []Change {
	d := &apiDiff{was: was, now: now, sent: sentTypes(was)}
	for _, name := range names(was.Types, now.Types) {
		if def := cmp.Or(was.Types[name], now.Types[name]); def.BuiltIn || strings.HasPrefix(name, "__") {
			continue
		}
		d.definition(was.Types[name], now.Types[name])
	}
	return d.changes
}

// names are the keys of both, in order.
func names[V any](was, now map[string]V) []string {
	all := slices.Concat(slices.Collect(maps.Keys(was)), slices.Collect(maps.Keys(now)))
	slices.Sort(all)
	return slices.Compact(all)
}

// sentTypes finds the types of arguments and of fields of inputs.
func sentTypes(s *ast.Schema) map[string]bool {
	sent := map[string]bool{}
	for _, def := range s.Types {
		for _, f := range def.Fields {
			if def.Kind == ast.InputObject {
				sent[f.Type.Name()] = true
			}
			for _, a := range f.Arguments {
				sent[a.Type.Name()] = true
			}
		}
	}
	return sent
}

func (d *apiDiff) add(effect Effect, at, what, clients string) {
	d.changes = append(d.changes, Change{Effect: effect, At: at, What: what, Clients: clients})
}

func (d *apiDiff) definition(was, now *ast.Definition) {
	switch {
	case was == nil:
		d.add(Compatible, now.Name, "is new", "")
		return
	case now == nil:
		d.add(Breaking, was.Name, "is removed", "operations that name it in a fragment or a variable")
		return
	case was.Kind != now.Kind:
		d.add(Breaking, was.Name, fmt.Sprintf("is %s, and was %s", kindText(now), kindText(was)),
			"operations that name it")
		return
	}
	switch was.Kind {
	case ast.Object, ast.Interface:
		d.fields(was, now)
		d.members(was.Name, "interface", was.Interfaces, now.Interfaces)
	case ast.InputObject:
		d.inputs(was, now)
	case ast.Enum:
		d.values(was, now)
	case ast.Union:
		d.members(was.Name, "member", was.Types, now.Types)
	}
}

var kindTexts = map[ast.DefinitionKind]string{
	ast.Object: "an object type", ast.Interface: "an interface", ast.InputObject: "an input type", ast.Enum: "an enum",
	ast.Union: "a union", ast.Scalar: "a scalar",
}

func kindText(def *ast.Definition) string { return kindTexts[def.Kind] }

func (d *apiDiff) fields(was, now *ast.Definition) {
	for _, f := range was.Fields {
		at := was.Name + "." + f.Name
		to := now.Fields.ForName(f.Name)
		if to == nil {
			d.add(Breaking, at, "is removed", "operations that select it"+insteadOfRename(f, was, now))
			continue
		}
		if why := d.answerBreaks(f.Type, to.Type); why != "" {
			d.add(Breaking, at, fmt.Sprintf("is %s, and was %s", to.Type, f.Type), why)
		} else if f.Type.String() != to.Type.String() {
			d.add(Compatible, at, fmt.Sprintf("is %s, and was %s", to.Type, f.Type), "")
		}
		d.deprecation(at, f.Directives, to.Directives)
		d.arguments(at, f.Arguments, to.Arguments)
	}
	for _, f := range now.Fields {
		if was.Fields.ForName(f.Name) == nil {
			d.add(Compatible, was.Name+"."+f.Name, "is new", "")
		}
	}
}

// insteadOfRename says how to give a field that is removed another name without breaking clients, where a field of its
// type is new beside it; "" where none is. Fields of Query have their names from indexes.
func insteadOfRename(removed *ast.FieldDefinition, was, now *ast.Definition) string {
	isNew := func(f *ast.FieldDefinition) bool {
		return f.Type.String() == removed.Type.String() && was.Fields.ForName(f.Name) == nil
	}
	if now.Name == "Query" || !slices.ContainsFunc(now.Fields, isNew) {
		return ""
	}
	return "; to rename it, keep it @deprecated beside the new field, with the same value, until none does"
}

func (d *apiDiff) deprecation(at string, was, now ast.DirectiveList) {
	if was.ForName("deprecated") == nil && now.ForName("deprecated") != nil {
		d.add(Compatible, at, "is deprecated", "")
	}
}

// answerBreaks says which clients of a type of answers break where it is another; "" for none.
func (d *apiDiff) answerBreaks(was, now *ast.Type) string {
	switch {
	case was.NonNull && !now.NonNull:
		return "clients that select it and do not expect null"
	case (was.Elem == nil) != (now.Elem == nil):
		return "operations that select it"
	case was.Elem != nil:
		return d.answerBreaks(was.Elem, now.Elem)
	case was.NamedType == now.NamedType:
		return ""
	case !covers(d.now, was.NamedType, now.NamedType):
		return "operations that select it"
	case !within(objectsOf(d.was, was.NamedType), objectsOf(d.now, now.NamedType)):
		// GraphQL refuses a fragment on a type that no value can be of.
		return "operations with a fragment on another member"
	}
	return ""
}

// covers reports whether every value of a type is one of an interface or union.
func covers(s *ast.Schema, abstract, name string) bool {
	def, of := s.Types[abstract], s.Types[name]
	return def != nil && of != nil && def.IsAbstractType() &&
		slices.ContainsFunc(s.GetPossibleTypes(def), func(p *ast.Definition) bool { return p.Name == name })
}

// objectsOf are the names of the object types that values of a type can be of.
func objectsOf(s *ast.Schema, name string) (objects []string) {
	for _, def := range s.GetPossibleTypes(s.Types[name]) {
		if def.Kind == ast.Object {
			objects = append(objects, def.Name)
		}
	}
	return objects
}

func within(some, all []string) bool {
	return !slices.ContainsFunc(some, func(name string) bool { return !slices.Contains(all, name) })
}

func (d *apiDiff) arguments(field string, was, now ast.ArgumentDefinitionList) {
	for _, a := range was {
		at := fmt.Sprintf("%s(%s:)", field, a.Name)
		to := now.ForName(a.Name)
		if to == nil {
			d.add(Breaking, at, "is removed", "operations that give it")
			continue
		}
		d.given(at, a.Type, to.Type, a.DefaultValue, to.DefaultValue)
		d.deprecation(at, a.Directives, to.Directives)
	}
	for _, a := range now {
		if was.ForName(a.Name) == nil {
			d.newGiven(fmt.Sprintf("%s(%s:)", field, a.Name), a.Type, a.DefaultValue, "operations that select "+field)
		}
	}
}

func (d *apiDiff) inputs(was, now *ast.Definition) {
	wasOne, isOne := was.Directives.ForName("oneOf") != nil, now.Directives.ForName("oneOf") != nil
	switch {
	case isOne && !wasOne:
		d.add(Breaking, was.Name, "is @oneOf, and was not", "operations that give other than one of its fields, or null")
	case wasOne && !isOne:
		d.add(Compatible, was.Name, "is not @oneOf, and was", "")
	}
	for _, f := range was.Fields {
		at := was.Name + "." + f.Name
		to := now.Fields.ForName(f.Name)
		if to == nil {
			d.add(Breaking, at, "is removed", "operations that give it")
			continue
		}
		d.given(at, f.Type, to.Type, f.DefaultValue, to.DefaultValue)
		d.deprecation(at, f.Directives, to.Directives)
	}
	for _, f := range now.Fields {
		if was.Fields.ForName(f.Name) == nil {
			d.newGiven(was.Name+"."+f.Name, f.Type, f.DefaultValue, "operations that give a value of "+was.Name)
		}
	}
}

// newGiven is what clients can give, and could not before.
func (d *apiDiff) newGiven(at string, t *ast.Type, otherwise *ast.Value, clients string) {
	if t.NonNull && otherwise == nil {
		d.add(Breaking, at, fmt.Sprintf("is new, and required: %s", t), clients)
		return
	}
	d.add(Compatible, at, "is new", "")
}

// given compares what clients give.
func (d *apiDiff) given(at string, was, now *ast.Type, wasDefault, nowDefault *ast.Value) {
	what := fmt.Sprintf("is %s, and was %s", now, was)
	optional := !was.NonNull || wasDefault != nil
	switch {
	case !sameType(was, now):
		d.add(Breaking, at, what, "operations that give it")
	case optional && now.NonNull && nowDefault == nil:
		d.add(Breaking, at, "is required: "+what, "operations that leave it out")
	case stricter(was, now):
		d.add(Breaking, at, what, "operations that give null, or a variable that can be null")
	case was.String() != now.String():
		d.add(Compatible, at, what, "")
	}
	if before, after := defaultText(wasDefault), defaultText(nowDefault); before != after {
		d.add(Noticeable, at, fmt.Sprintf("is %s where it is left out, and was %s", after, before),
			"operations that leave it out")
	}
}

func defaultText(v *ast.Value) string {
	if v == nil {
		return "null"
	}
	return v.String()
}

// sameType reports whether types differ at most in what may be null.
func sameType(was, now *ast.Type) bool {
	if was.Elem == nil || now.Elem == nil {
		return was.Elem == now.Elem && was.NamedType == now.NamedType
	}
	return sameType(was.Elem, now.Elem)
}

// stricter reports whether null was allowed somewhere, and is not any more.
func stricter(was, now *ast.Type) bool {
	return !was.NonNull && now.NonNull || was.Elem != nil && stricter(was.Elem, now.Elem)
}

func (d *apiDiff) values(was, now *ast.Definition) {
	for _, v := range was.EnumValues {
		at := was.Name + "." + v.Name
		to := now.EnumValues.ForName(v.Name)
		if to == nil {
			clients := "clients that wait for it"
			if d.sent[was.Name] {
				clients = "operations that give it, and clients that wait for it"
			}
			d.add(Breaking, at, "is removed", clients)
			continue
		}
		d.deprecation(at, v.Directives, to.Directives)
	}
	for _, v := range now.EnumValues {
		if was.EnumValues.ForName(v.Name) == nil {
			d.add(Noticeable, was.Name+"."+v.Name, "is new", "clients that know the former values of the enum alone")
		}
	}
}

// members compares the members of a union, or the interfaces of a type.
func (d *apiDiff) members(of, what string, was, now []string) {
	for _, name := range was {
		if !slices.Contains(now, name) {
			d.add(Breaking, of, fmt.Sprintf("has %s %s no more", what, name), "operations with a fragment on "+name)
		}
	}
	for _, name := range now {
		if !slices.Contains(was, name) {
			d.add(Noticeable, of, fmt.Sprintf("has %s %s", what, name), "clients that know the former ones alone")
		}
	}
}
