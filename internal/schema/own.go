package schema

import (
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// ownChecker checks what a project declares beside read models and events.
type ownChecker struct{ *Project }

// checkOwn checks what a project declares beside read models and events.
func checkOwn(p *Project) { (&ownChecker{p}).check() }

// check looks at what a project declares beside read models and events.
func (l *ownChecker) check() {
	for _, doc := range []*document{l.api, l.events} {
		l.checkDefinitions(doc)
		l.checkRoots(doc)
	}
	for _, def := range l.api.types {
		mark := slices.IndexFunc(def.Directives, func(d *ast.Directive) bool { return isModelMark(d.Name) })
		switch {
		case def.Name == "Mutation" || def.Name == "Subscription":
			l.add(readOnly.broken(at(def.Position), def.Name, "", strings.ToLower(def.Name)+"s"))
		case def.Name == "Query" && mark >= 0:
			l.add(rootModel.broken(at(def.Directives[mark].Position), def.Name, ""))
		case def.Name != "Query" && strings.EqualFold(def.Name, "Query"):
			l.add(rootAlike.broken(at(def.Position), def.Name, ""))
		case def.Kind == ast.Union:
			l.checkUnion(def)
		}
		l.checkRootApart(def)
	}
}

// checkRootApart finds types that the root of queries is part of: there is no Go type for it.
func (l *ownChecker) checkRootApart(def *ast.Definition) {
	if def.Name == "Query" && len(def.Interfaces) > 0 {
		l.add(rootApart.broken(at(def.Position), def.Name, "", "implements "+def.Interfaces[0]))
	}
	if slices.Contains(def.Types, "Query") {
		l.add(rootApart.broken(at(def.Position), def.Name, "", "holds Query"))
	}
	for _, f := range def.Fields {
		if f.Type.Name() == "Query" {
			l.add(rootApart.broken(at(f.Position), def.Name, f.Name, "is of type Query"))
		}
	}
}

// checkDefinitions finds what is declared though it is there already, and directives that nothing would run.
func (l *ownChecker) checkDefinitions(doc *document) {
	for _, d := range doc.own {
		r := ownDirective
		if doc.vocabulary.directives[d.Name] != nil {
			r = ourDirective
		}
		l.add(r.broken(at(d.Position), "", "", d.Name))
	}
	for _, def := range doc.types {
		if doc.vocabulary.types[def.Name] != nil || slices.Contains(scalars, def.Name) {
			l.add(ourType.broken(at(def.Position), def.Name, "", def.Name))
		}
	}
}

func (l *ownChecker) checkRoots(doc *document) {
	for _, s := range doc.roots {
		for _, op := range s.OperationTypes {
			switch {
			case op.Operation != ast.Query:
				l.add(readOnly.broken(at(op.Position), op.Type, "", string(op.Operation)+"s"))
			case op.Type != "Query":
				l.add(otherRoot.broken(at(op.Position), op.Type, "", "queries", op.Type))
			}
		}
	}
}

func (l *ownChecker) checkUnion(union *ast.Definition) {
	for _, member := range union.Types {
		def := l.api.named[member]
		if def != nil && slices.ContainsFunc(def.Directives, func(d *ast.Directive) bool { return isModelMark(d.Name) }) {
			l.add(inUnion.broken(at(union.Position), union.Name, "", member))
		}
	}
}

// checkOrphans finds annotations in types that are no read models.
func checkOrphans(l *Project) {
	build := BuildDirectives()
	for _, def := range l.api.types {
		if slices.ContainsFunc(l.drafts, func(d *ModelDraft) bool { return d.def == def }) {
			continue
		}
		for _, dir := range def.Directives {
			if slices.Contains(build, dir.Name) && !isModelMark(dir.Name) {
				l.add(orphan.broken(at(dir.Position), def.Name, "", dir.Name))
			}
		}
		for _, f := range def.Fields {
			for _, dir := range f.Directives {
				if slices.Contains(build, dir.Name) {
					l.add(orphan.broken(at(dir.Position), def.Name, f.Name, dir.Name))
				}
			}
		}
	}
}
