package sdl

import (
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/vektah/gqlparser/v2/ast"
)

// site is where a directive stands.
type site struct {
	typ, field string
	location   ast.DirectiveLocation
}

// soundDirectives checks the directives at a site against their definitions; it returns the known ones, without the
// arguments that are wrong and, save for those that say what the type is, without those that lack an argument.
func (l *soundChecker) soundDirectives(s site, used ast.DirectiveList) ast.DirectiveList {
	var kept ast.DirectiveList
	for _, d := range used {
		def := l.doc.Vocabulary.Directives[d.Name]
		if d.Name == "deprecated" {
			reason, _ := Text(d, "reason")
			l.checkText(d.Position, s.typ, s.field, "the reason of @deprecated", reason)
		}
		switch {
		case def == nil:
			l.add(l.unknown(s, d))
			if mark := l.meantMark(s, d); mark != "" {
				d.Name = mark
				l.soundArguments(s, d, l.doc.Vocabulary.Directives[mark])
				kept = append(kept, d)
			} else if s.field == "" {
				l.doc.UnknownOn[s.typ] = true
			}
		case !slices.Contains(def.Locations, s.location):
			l.add(rule.WrongPlace.Broken(Position(d.Position), s.typ, s.field, d.Name, locationName(s.location), places(def)))
		case !def.IsRepeatable && kept.ForName(d.Name) != nil:
			l.add(rule.RepeatedDirective.Broken(Position(d.Position), s.typ, s.field, d.Name))
		default:
			if l.soundArguments(s, d, def) || decisive(d.Name) {
				kept = append(kept, d)
			}
		}
	}
	return kept
}

// decisive directives make a type what it is; without them, what else stands on it would be reported as out of place.
func decisive(directive string) bool {
	return IsModelMark(directive) || slices.Contains([]string{"entity", "primaryKey", "keys", "aggregate", "subAggregate",
		"one", "many"}, directive)
}

// meantMark is the directive that a misspelt one most likely is, where it makes a type a read model; "" for none. The
// type is read as one, so that what it and others say of it is not reported as out of place.
func (l *soundChecker) meantMark(s site, d *ast.Directive) string {
	if meant := strings.TrimPrefix(l.doc.Vocabulary.meantDirective(d.Name, s.location), "@"); IsModelMark(meant) {
		return meant
	}
	return ""
}

// unknown says why a directive is not known: it may belong elsewhere, or to another system.
func (l *soundChecker) unknown(s site, d *ast.Directive) schema.Diagnostic {
	other, name := Events, "events"
	if l.doc.Vocabulary.ofEvents {
		other, name = ReadModels, "read models"
	}
	switch {
	case other.Directives[d.Name] != nil:
		return rule.MisplacedSchema.Broken(Position(d.Position), s.typ, s.field, d.Name, name)
	}
	return rule.UnknownDirective.Broken(Position(d.Position), s.typ, s.field, d.Name,
		didYouMean(l.doc.Vocabulary.meantDirective(d.Name, s.location)))
}

func places(def *ast.DirectiveDefinition) string {
	names := make([]string, len(def.Locations))
	for i, at := range def.Locations {
		names[i] = locationName(at)
	}
	return strings.Join(names, " or ")
}

// soundArguments drops the arguments that are wrong; complete is false where a required one is missing.
func (l *soundChecker) soundArguments(s site, d *ast.Directive, def *ast.DirectiveDefinition) (complete bool) {
	given := map[string]bool{}
	var kept ast.ArgumentList
	for _, a := range d.Arguments {
		want := def.Arguments.ForName(a.Name)
		switch {
		case want == nil:
			l.add(rule.UnknownArgument.Broken(Position(a.Position), s.typ, s.field, d.Name, a.Name, signature(def),
				Suggest(a.Name, argumentNames(def))))
			continue
		case given[a.Name]:
			l.add(rule.RepeatedArgument.Broken(Position(a.Position), s.typ, s.field, d.Name, a.Name))
			continue
		}
		given[a.Name] = true
		c := argumentCheck{types: l.doc.Vocabulary.Types, directive: d.Name, argument: a.Name, whole: want.Type}
		if wrong := c.value(a.Value, want.Type); wrong != nil {
			pos, args := wrong.place(a.Value), append([]string{d.Name, wrong.argument}, wrong.args...)
			l.add(wrong.rule.Broken(pos, s.typ, s.field, args...))
			l.doc.Dropped[d] = append(l.doc.Dropped[d], a.Name)
			continue
		}
		kept = append(kept, a)
	}
	d.Arguments = kept
	complete = true
	for _, want := range def.Arguments {
		required := want.Type.NonNull && want.DefaultValue == nil
		if required && !given[want.Name] {
			l.add(rule.MissingArgument.Broken(Position(d.Position), s.typ, s.field, d.Name, want.Name))
		}
		if required && kept.ForName(want.Name) == nil {
			complete = false
		}
	}
	return complete
}
