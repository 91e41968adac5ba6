package event

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/vektah/gqlparser/v2/ast"
)

// keepUsed drops the values that retired events alone hold, of which nothing is made, and reports retired types inside
// of others.
func (l *eventReader) keepUsed() {
	used := usedBy(l.Model.Events)
	former := usedBy(l.Model.Retired)
	l.Model.Values = slices.DeleteFunc(l.Model.Values, func(t *schema.EventType) bool { return former[t] && !used[t] })
	for _, t := range slices.Concat(l.Model.Events, l.Model.Values) {
		for _, f := range t.Fields {
			if slices.Contains(l.Model.Retired, f.Object) {
				l.Add(rule.RetiredInside.Broken(f.Object.Pos, f.Object.Name, "", t.Name+"."+f.Name))
			}
		}
	}
}

// readFormerNames reads what events and their fields were called.
func (l *eventReader) readFormerNames(objects []*ast.Definition, types map[string]*schema.EventType) {
	names := formerNames{reader: l, holder: map[string]string{}}
	for _, def := range objects {
		if !slices.Contains(l.Model.Values, types[def.Name]) {
			names.holder[def.Name] = "the event " + def.Name
		}
	}
	for _, def := range objects {
		t := types[def.Name]
		fields := formerNames{reader: l, holder: map[string]string{}}
		for _, f := range def.Fields {
			fields.holder[f.Name] = "the field " + f.Name
		}
		for i, f := range def.Fields {
			t.Fields[i].Was = fields.read(f.Directives, t.Name, f.Name, "the field "+f.Name)
		}
		if d := def.Directives.ForName("was"); d != nil && slices.Contains(l.Model.Values, t) {
			l.Add(rule.WasInside.Broken(sdl.Position(d.Position), t.Name, ""))
			continue
		}
		t.Was = names.read(def.Directives, t.Name, "", "the event "+t.Name)
	}
}

// formerNames holds the names of what can be mistaken for one another.
type formerNames struct {
	reader *eventReader
	holder map[string]string // what has a name, or had it
}

// namePattern is what GraphQL takes as a name.
var namePattern = regexp.MustCompile("^[_A-Za-z][_0-9A-Za-z]*$")

// read reads the former names of one thing, in the order in which they are given.
func (n *formerNames) read(used ast.DirectiveList, typ, field, what string) (was []string) {
	for _, d := range used.ForNames("was") {
		name, _ := sdl.Text(d, "name")
		pos := sdl.ArgumentPosition(d, "name")
		switch other, taken := n.holder[name]; {
		case !namePattern.MatchString(name):
			n.reader.Add(rule.WasName.Broken(pos, typ, field, strconv.Quote(name)))
			continue
		case taken:
			n.reader.Add(rule.WasTaken.Broken(pos, typ, field, name, other))
			continue
		}
		n.holder[name] = what
		was = append(was, name)
	}
	return was
}

// readVersions reads of which version the data of events are.
func (l *eventReader) readVersions(objects []*ast.Definition, types map[string]*schema.EventType) {
	for _, def := range objects {
		d := def.Directives.ForName("version")
		if d == nil {
			continue
		}
		t := types[def.Name]
		text, _ := sdl.Text(d, "n")
		n, err := strconv.ParseInt(text, 10, 32)
		switch {
		case slices.Contains(l.Model.Retired, t):
			l.Add(rule.VersionRetired.Broken(sdl.Position(d.Position), t.Name, ""))
		case slices.Contains(l.Model.Values, t):
			l.Add(rule.VersionInside.Broken(sdl.Position(d.Position), t.Name, ""))
		case err != nil || n < 1:
			l.Add(rule.VersionNumber.Broken(sdl.ArgumentPosition(d, "n"), t.Name, "", text))
		default:
			t.Version = int(n)
		}
	}
}
