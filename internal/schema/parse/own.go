package parse

import (
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/vektah/gqlparser/v2/ast"
)

// ownChecker checks what a project declares beside read models and events.
type ownChecker struct{ *draft.Project }

// checkOwn checks what a project declares beside read models and events.
func checkOwn(p *draft.Project) { (&ownChecker{p}).check() }

// check looks at what a project declares beside read models and events.
func (l *ownChecker) check() {
	for _, doc := range []*sdl.Document{l.API, l.Events} {
		l.checkDefinitions(doc)
		l.checkRoots(doc)
	}
	for _, def := range l.API.Types {
		mark := slices.IndexFunc(def.Directives, func(d *ast.Directive) bool { return sdl.IsModelMark(d.Name) })
		switch {
		case def.Name == "Mutation" || def.Name == "Subscription":
			l.Add(rule.ReadOnly.Broken(sdl.Position(def.Position), def.Name, "", strings.ToLower(def.Name)+"s"))
		case def.Name == "Query" && mark >= 0:
			l.Add(rule.RootModel.Broken(sdl.Position(def.Directives[mark].Position), def.Name, ""))
		case def.Name != "Query" && strings.EqualFold(def.Name, "Query"):
			l.Add(rule.RootAlike.Broken(sdl.Position(def.Position), def.Name, ""))
		case def.Kind == ast.Union:
			l.checkUnion(def)
		}
		l.checkRootApart(def)
	}
}

// checkRootApart finds types that the root of queries is part of: there is no Go type for it.
func (l *ownChecker) checkRootApart(def *ast.Definition) {
	if def.Name == "Query" && len(def.Interfaces) > 0 {
		l.Add(rule.RootApart.Broken(sdl.Position(def.Position), def.Name, "", "implements "+def.Interfaces[0]))
	}
	if slices.Contains(def.Types, "Query") {
		l.Add(rule.RootApart.Broken(sdl.Position(def.Position), def.Name, "", "holds Query"))
	}
	for _, f := range def.Fields {
		if f.Type.Name() == "Query" {
			l.Add(rule.RootApart.Broken(sdl.Position(f.Position), def.Name, f.Name, "is of type Query"))
		}
	}
}

// checkDefinitions finds what is declared though it is there already, and directives that nothing would run.
func (l *ownChecker) checkDefinitions(doc *sdl.Document) {
	for _, d := range doc.Own {
		r := rule.OwnDirective
		if doc.Vocabulary.Directives[d.Name] != nil {
			r = rule.OurDirective
		}
		l.Add(r.Broken(sdl.Position(d.Position), "", "", d.Name))
	}
	for _, def := range doc.Types {
		if doc.Vocabulary.Types[def.Name] != nil || slices.Contains(sdl.ScalarNames, def.Name) {
			l.Add(rule.OurType.Broken(sdl.Position(def.Position), def.Name, "", def.Name))
		}
	}
}

func (l *ownChecker) checkRoots(doc *sdl.Document) {
	for _, s := range doc.Roots {
		for _, op := range s.OperationTypes {
			switch {
			case op.Operation != ast.Query:
				l.Add(rule.ReadOnly.Broken(sdl.Position(op.Position), op.Type, "", string(op.Operation)+"s"))
			case op.Type != "Query":
				l.Add(rule.OtherRoot.Broken(sdl.Position(op.Position), op.Type, "", "queries", op.Type))
			}
		}
	}
}

func (l *ownChecker) checkUnion(union *ast.Definition) {
	for _, member := range union.Types {
		if def := l.API.Named[member]; def != nil && sdl.IsModel(def) {
			l.Add(rule.InUnion.Broken(sdl.Position(union.Position), union.Name, "", member))
		}
	}
}

// checkOrphans finds annotations in types that are no read models. All of a type are one finding, as one annotation
// most likely is what they lack. They are none where a directive of the type is not known, which may be that one.
func checkOrphans(l *draft.Project) {
	for _, def := range l.API.Types {
		if slices.ContainsFunc(l.ReadModels, func(d *draft.Model) bool { return d.Def == def }) {
			continue
		}
		if sdl.IsPart(def) {
			checkPart(l, def)
			continue
		}
		orphans := slices.DeleteFunc(sdl.Annotations(def), func(d *ast.Directive) bool { return sdl.IsModelMark(d.Name) })
		if len(orphans) > 0 && !l.API.UnknownOn[def.Name] {
			l.Add(rule.Orphan.Broken(sdl.Position(orphans[0].Position), def.Name, "", directiveNames(orphans)))
		}
	}
}

// directiveNames names each directive once: "@id, @index".
func directiveNames(directives []*ast.Directive) string {
	var names []string
	for _, d := range directives {
		if !slices.Contains(names, "@"+d.Name) {
			names = append(names, "@"+d.Name)
		}
	}
	return strings.Join(names, ", ")
}

// checkPart finds annotations that cannot stand in a part of an aggregate.
func checkPart(l *draft.Project, def *ast.Definition) {
	build := sdl.BuildDirectives()
	for _, dir := range def.Directives {
		if slices.Contains(build, dir.Name) && dir.Name != "subAggregate" && dir.Name != "member" {
			l.Add(rule.PartDirective.Broken(sdl.Position(dir.Position), def.Name, "", dir.Name))
		}
	}
	for _, f := range def.Fields {
		for _, dir := range f.Directives {
			if slices.Contains(build, dir.Name) && !slices.Contains([]string{"ref", "one", "many", "sub", "auth"}, dir.Name) {
				l.Add(rule.PartDirective.Broken(sdl.Position(dir.Position), def.Name, f.Name, dir.Name))
			}
		}
	}
}
