package naming

import (
	"go/token"
	"slices"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/vektah/gqlparser/v2/ast"
)

// goNames holds the Go names of what is generated against one another.
type goNames struct{ *draft.Project }

// scope holds the Go names of one package or struct, and what each stands for.
type scope struct {
	project *draft.Project
	names   map[string]string
}

func (l *goNames) newScope() *scope { return &scope{l.Project, map[string]string{}} }

// claim takes a Go name for something, or reports that it is taken.
func (s *scope) claim(goName, what string, pos schema.Pos, typ, field string) {
	if other, taken := s.names[goName]; taken {
		s.project.Add(rule.GoTaken.Broken(pos, typ, field, what, goName, other))
		return
	}
	s.names[goName] = what
}

// named claims the Go name of something that the schema names; ok is false where it has none.
func (s *scope) named(name, what string, pos schema.Pos, typ, field string) (ok bool) {
	g := schema.GoName(name)
	if !token.IsIdentifier(g) || !token.IsExported(g) {
		s.project.Add(rule.GoName.Broken(pos, typ, field, what))
		return false
	}
	s.claim(g, what, pos, typ, field)
	return true
}

// check finds names that differ in GraphQL and not in Go, and names that the generated code needs itself.
func (l *goNames) check() {
	l.checkModelPackage()
	l.checkOpsPackage()
	l.checkEventPackage()
	l.checkQueryMethods()
	l.checkExecutor()
	l.checkStructs()
	l.checkOwnArguments()
	for _, def := range l.Events.Types {
		if def.Kind == ast.Object && !isRetired(def) {
			fields := l.newScope()
			for _, f := range def.Fields {
				fields.named(f.Name, "field "+f.Name, sdl.Position(f.Position), def.Name, f.Name)
			}
		}
	}
}

// checkModelPackage covers the package of rows, enums and the project's own types. What they bring along is reserved
// before the types claim their names, so that the report is at the type that can be renamed.
func (l *goNames) checkModelPackage() {
	s := l.newScope()
	s.names["All"] = "the list of all models"
	if l.Model.Relay != nil && l.API.Named[schema.NodeType] == nil { // else it is reported as that
		s.names[schema.NodeType] = "the interface of all rows"
	}
	for _, d := range l.ReadModels {
		g := schema.GoName(d.Name)
		if schema.HasKeyType(d.ReadModel) {
			s.names[g+"Key"] = "the key of type " + d.Name
		}
		if schema.HasPartitionType(d.ReadModel) {
			s.names[g+"Partition"] = "the partition key of type " + d.Name
		}
		s.names[g+"Model"] = "the description of type " + d.Name
		s.names[g+"Codec"] = "the codec of type " + d.Name
		s.names["KeyOf"+g] = "the key function of type " + d.Name
		if d.Series != nil {
			s.names[g+"Append"] = "what is appended to type " + d.Name
		}
	}
	for _, def := range l.API.Types {
		if def.Kind == ast.Enum && !slices.ContainsFunc(l.Model.Enums, func(e *schema.Enum) bool {
			return e.Name == def.Name
		}) {
			s.names["All"+schema.GoName(def.Name)] = "the list of the values of enum " + def.Name
		}
	}
	for _, def := range l.API.Types {
		if sdl.IsRoot(def.Name) || def.Kind == ast.Scalar {
			continue
		}
		if s.named(def.Name, "type "+def.Name, sdl.Position(def.Position), def.Name, "") && def.Kind == ast.Enum {
			s.constants(def)
		}
	}
	for _, o := range l.copies() {
		s.claim(schema.GoName(o.Name), "type "+o.Name, o.Pos, o.CopyOf, "")
	}
	for _, d := range l.histories() {
		s.claim(schema.GoName(d.Name), "type "+d.Name, d.Pos, d.SeriesOf.Name, "")
	}
	seen := map[string]bool{}
	for _, c := range l.Model.Collections {
		if seen[c.APIName()] || l.API.Named[c.Union()] != nil || l.API.Named[c.MemberEnum()] != nil {
			continue // reported as taken
		}
		seen[c.APIName()] = true
		s.claim(schema.GoName(c.Union()), "type "+c.Union(), c.Pos, c.Members[0].Model.Name, "")
		s.claim(schema.GoName(c.APIName())+"Collection", "the description of collection "+c.APIName(), c.Pos,
			c.Members[0].Model.Name, "")
		s.claim(schema.GoName(c.MemberEnum()), "enum "+c.MemberEnum(), c.Pos, c.Members[0].Model.Name, "")
		for _, m := range c.Members {
			name := m.Model.Name
			s.claim(schema.GoConst(c.MemberEnum(), name), "value "+name+" of enum "+c.MemberEnum(), m.Index.Pos, name, "")
		}
	}
}

// copies are the types of copies whose names no declared type has; of others that is reported.
func (l *goNames) copies() []*schema.Object {
	return slices.DeleteFunc(slices.Clone(l.Model.Objects), func(o *schema.Object) bool {
		return o.CopyOf == "" || l.API.Named[o.Name] != nil
	})
}

// histories are the types of events whose names no declared type has; of others that is reported.
func (l *goNames) histories() []*draft.Model {
	return slices.DeleteFunc(slices.Clone(l.ReadModels), func(d *draft.Model) bool {
		return d.SeriesOf == nil || l.API.Named[d.Name] != nil
	})
}

// declared are the read models but for histories.
func (l *goNames) declared() []*draft.Model {
	return slices.DeleteFunc(slices.Clone(l.ReadModels), func(d *draft.Model) bool { return d.SeriesOf != nil })
}

// checkOpsPackage covers the package of typed ops and projector interfaces.
func (l *goNames) checkOpsPackage() {
	s := l.newScope()
	for _, d := range l.declared() {
		g := schema.GoName(d.Name)
		if d.Aggregate == nil {
			s.names[g+"Fields"] = "the fields of type " + d.Name
		}
		if len(d.Writers) == 1 {
			s.names[g+"Projector"] = "the projector of type " + d.Name
			s.names["Project"+g] = "the projection of type " + d.Name
		}
	}
	claimed := map[string]bool{}
	for _, d := range l.declared() {
		if g := schema.GoName(d.Name); !claimed[g] { // else reported for the package of rows
			claimed[g] = true
			s.claim(g, "type "+d.Name, d.Pos, d.Name, "")
		}
	}
	l.claimProjectors(s)
}

// claimProjectors covers the projectors of rows with several writers; that of any other has the name of the type.
func (l *goNames) claimProjectors(s *scope) {
	taken := map[string]bool{}
	for _, d := range l.declared() {
		if len(d.Writers) == 1 {
			taken[d.Projector] = true
		}
	}
	for _, d := range l.declared() {
		if len(d.Writers) == 1 {
			continue
		}
		for _, w := range d.Writers {
			if taken[w.Projector] {
				continue // reported as taken
			}
			taken[w.Projector] = true
			g := schema.GoName(w.Projector)
			s.claim(g+"Projector", "projector "+w.Projector, w.Pos, d.Name, "")
			s.claim("Project"+g, "projection "+w.Projector, w.Pos, d.Name, "")
		}
	}
}

// isRetired reports whether an event is retired; no Go is made of it.
func isRetired(def *ast.Definition) bool { return def.Directives.ForName("retired") != nil }

func (l *goNames) checkEventPackage() {
	s := l.newScope()
	s.names["Types"] = "the list of all events"
	if l.Model.HasUpcasters() {
		s.names["Upcasters"] = "the upcasters of all events"
	}
	for _, def := range l.Events.Types {
		if def.Kind == ast.Object && !isRetired(def) {
			s.names["Decode"+schema.GoName(def.Name)] = "the decoder of type " + def.Name
		}
	}
	for _, def := range l.Events.Types {
		if isRetired(def) {
			continue
		}
		if s.named(def.Name, "type "+def.Name, sdl.Position(def.Position), def.Name, "") && def.Kind == ast.Enum {
			s.constants(def)
		}
	}
	for _, e := range l.Model.EventEnums {
		if l.Events.Named[e.Name] == nil { // it is of the read models' schema
			def := l.API.Named[e.Name]
			s.claim(schema.GoName(e.Name), "enum "+e.Name, sdl.Position(def.Position), e.Name, "")
			s.constants(def)
		}
	}
}

func (s *scope) constants(enum *ast.Definition) {
	for _, v := range enum.EnumValues {
		s.claim(schema.GoConst(enum.Name, v.Name), "value "+v.Name+" of enum "+enum.Name, sdl.Position(v.Position),
			enum.Name, "")
	}
}

// checkQueryMethods covers the methods of the resolver of Query.
func (l *goNames) checkQueryMethods() {
	s := l.newScope()
	for _, query := range []string{schema.NodeQuery, schema.NodesQuery} {
		if l.Model.Relay != nil && l.OwnQueries().ForName(query) == nil { // else it is reported as that
			s.names[schema.GoName(query)] = "the query " + query
		}
	}
	for _, f := range l.OwnQueries() {
		s.named(f.Name, "query "+f.Name, sdl.Position(f.Position), "Query", f.Name)
	}
	seen := map[string]bool{}
	for _, d := range l.ReadModels {
		for _, q := range d.Queries() {
			if seen[q.Name] || l.OwnQueries().ForName(q.Name) != nil {
				continue // reported as taken
			}
			seen[q.Name] = true
			field := ""
			if q.Source != nil {
				field = q.Source.Name
			}
			s.claim(schema.GoName(q.Name), "query "+q.Name, d.QueryPos(q), d.Name, field)
		}
	}
	for _, c := range l.Model.Collections {
		if q := c.Query(); !seen[q.Name] && l.OwnQueries().ForName(q.Name) == nil {
			seen[q.Name] = true
			s.claim(schema.GoName(q.Name), "query "+q.Name, c.Pos, c.Members[0].Model.Name, "")
		}
	}
}

// checkExecutor covers the functions of gqlgen's executor, which it names Type and Type_field.
func (l *goNames) checkExecutor() {
	s := l.newScope()
	for _, def := range l.API.Types {
		s.claim("_"+def.Name, "type "+def.Name, sdl.Position(def.Position), def.Name, "")
	}
	for _, def := range l.API.Types {
		for _, f := range def.Fields {
			s.claim("_"+def.Name+"_"+f.Name, "field "+f.Name+" of type "+def.Name, sdl.Position(f.Position), def.Name, f.Name)
		}
	}
	for _, o := range l.copies() {
		s.claim("_"+o.Name, "type "+o.Name, o.Pos, o.CopyOf, "")
		claimed := map[string]bool{}
		for _, f := range o.Fields {
			if !claimed[f.Name] { // else it is reported for the row
				claimed[f.Name] = true
				s.claim("_"+o.Name+"_"+f.Name, "field "+f.Name+" of type "+o.Name, o.Pos, o.CopyOf, f.Name)
			}
		}
	}
	for _, d := range l.histories() {
		s.claim("_"+d.Name, "type "+d.Name, d.Pos, d.SeriesOf.Name, "")
		for _, f := range d.Fields {
			if !f.Hidden {
				s.claim("_"+d.Name+"_"+f.Name, "field "+f.Name+" of type "+d.Name, d.Pos, d.SeriesOf.Name, f.Name)
			}
		}
	}
	for _, part := range l.Parts {
		if part.Object != nil {
			claimIdentifiers(s, part.Model)
		}
	}
	for _, d := range l.ReadModels {
		claimIdentifiers(s, d)
		for _, j := range d.Joins {
			s.claim("_"+d.Name+"_"+j.Name, "virtual field "+j.Name+" of type "+d.Name, j.Pos, d.Name, j.Source.Name)
		}
	}
}

// claimIdentifiers covers the fields that hold the identifiers of references.
func claimIdentifiers(s *scope, d *draft.Model) {
	for _, r := range d.References {
		if d.Def.Fields.ForName(r.ID.Name) == nil { // else it is reported for the row
			s.claim("_"+d.Name+"_"+r.ID.Name, "identifier "+r.ID.Name+" of type "+d.Name, r.ID.Pos, d.Name, r.Copy.Name)
		}
	}
}
