// Package aggregate reads aggregates: read models whose rows are stored as several items, and the types of which they
// consist.
package aggregate

import (
	"slices"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/parse/stored"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/vektah/gqlparser/v2/ast"
)

// edges are the directives of fields that have items of their own.
var edges = []string{"one", "many", "sub"}

// partReader reads the fields of a type of which aggregates consist.
type partReader struct{ *draft.Part }

// ReadFields reads the fields of an aggregate, and those of all types that it consists of.
func ReadFields(d *draft.Model) {
	d.Aggregate = &schema.Aggregate{Pos: sdl.Position(d.Def.Directives.ForName("aggregate").Position)}
	part := &draft.Part{Model: d}
	d.Project.Parts[d.Def] = part
	(&partReader{part}).read()
	for _, e := range part.Edges {
		d.Aggregate.Edges = append(d.Aggregate.Edges, e.Edge)
	}
}

// CheckOutside refuses the directives of parts on a field of any other read model.
func CheckOutside(d *draft.Model, def *ast.FieldDefinition) {
	for _, dir := range def.Directives {
		if slices.Contains(edges, dir.Name) {
			d.Report(rule.EdgeOutside, sdl.Position(dir.Position), &schema.Field{Name: def.Name}, dir.Name)
		}
	}
}

func (p *partReader) read() {
	for _, def := range p.Def.Fields {
		dir := p.edge(def)
		if dir == nil || !p.readEdge(def, dir) {
			stored.Read(p.Model, def)
		}
	}
}

// edge is the directive that gives a field an item of its own, nil for none.
func (p *partReader) edge(def *ast.FieldDefinition) *ast.Directive {
	var first *ast.Directive
	for _, dir := range def.Directives {
		switch wrong := (&schema.Field{Name: def.Name}); {
		case dir.Name != "ref" && !slices.Contains(edges, dir.Name):
		case first != nil:
			p.Report(rule.EdgeTwice, sdl.Position(dir.Position), wrong, first.Name, dir.Name)
		default:
			first = dir
		}
	}
	if first == nil || first.Name == "ref" {
		return nil
	}
	if p.Def.Directives.ForName("member") != nil {
		p.Report(rule.EdgeInMember, sdl.Position(first.Position), &schema.Field{Name: def.Name}, first.Name)
	}
	return first
}

// readEdge reads a field that has an item of its own. It reports false where the field is to be read as any other,
// because it can be none.
func (p *partReader) readEdge(def *ast.FieldDefinition, dir *ast.Directive) bool {
	typ, pos := sdl.TypeRefOf(def.Type), sdl.Position(dir.Position)
	target, wrong := p.Project.API.Named[typ.Name], &schema.Field{Name: def.Name}
	switch {
	case slices.Contains(sdl.ScalarNames, typ.Name):
		return p.refuse(dir, wrong, typ.Name)
	case target == nil || sdl.IsRoot(typ.Name) || typ.Nested: // reported as it is
		return false
	case typ.List && dir.Name != "many":
		p.Report(rule.EdgeList, pos, wrong, dir.Name)
	case !typ.List && dir.Name == "many":
		p.Report(rule.EdgeNoList, pos, wrong, typ.Name)
	case typ.List && typ.ElemNullable:
		p.Report(rule.NullableElement, sdl.Position(def.Type.Position), wrong, typ.Name)
	}
	e := &draft.Edge{Dir: dir, Edge: &schema.Edge{Many: dir.Name == "many", Sub: dir.Name == "sub", Pos: pos}}
	e.Kind, _ = sdl.Text(dir, "type")
	switch {
	case dir.Name == "sub":
		return p.readSub(def, target, e)
	case sdl.IsModel(target):
		e.Reference = stored.ReadReference(p.Model, def, target, dir)
		e.Field = e.Reference.Copy
	case target.Directives.ForName("member") != nil:
		p.readPart(def, target, e)
		p.checkNoCopy(e, target.Name)
	default:
		return p.refuse(dir, wrong, typ.Name) || p.skip(def, target)
	}
	p.Edges = append(p.Edges, e)
	return true
}

func (p *partReader) readSub(def *ast.FieldDefinition, target *ast.Definition, e *draft.Edge) bool {
	root := target.Directives.ForName("subAggregate")
	if root == nil || sdl.IsModel(target) {
		return p.refuse(e.Dir, &schema.Field{Name: def.Name}, target.Name) || p.skip(def, target)
	}
	e.Kind, _ = sdl.Text(root, "root")
	p.readPart(def, target, e)
	p.readDiscriminators(e)
	p.Edges = append(p.Edges, e)
	return true
}

// refuse reports a type that no part has; it reports false.
func (p *partReader) refuse(dir *ast.Directive, f *schema.Field, typ string) bool {
	if dir.Name == "sub" {
		p.Report(rule.SubType, sdl.Position(dir.Position), f, typ)
	} else {
		p.Report(rule.EdgeType, sdl.Position(dir.Position), f, dir.Name, typ)
	}
	return false
}

// skip takes a field of a type that is reported as wrong for it: of none, unless it could be read as any other.
func (p *partReader) skip(def *ast.FieldDefinition, target *ast.Definition) bool {
	if !sdl.IsModel(target) && !sdl.IsPart(target) {
		return false
	}
	p.add(def, nil)
	return true
}

// readPart adds a field that holds a part, or a list of parts.
func (p *partReader) readPart(def *ast.FieldDefinition, target *ast.Definition, e *draft.Edge) {
	if len(def.Arguments) > 0 {
		p.Report(rule.FieldArguments, sdl.Position(def.Position), &schema.Field{Name: def.Name})
	}
	e.Part = partOf(p.Project, target)
	e.Field = p.add(def, e.Part.Object)
}

func (p *partReader) add(def *ast.FieldDefinition, o *schema.Object) *schema.Field {
	f := stored.NewField(def, len(p.Fields))
	f.Object, f.Item = o, true
	p.Fields = append(p.Fields, f)
	p.Sources[f] = def
	return f
}

// checkNoCopy refuses what can be said of copies alone.
func (p *partReader) checkNoCopy(e *draft.Edge, typ string) {
	for _, argument := range []string{"cascade", "missing"} {
		if e.Dir.Arguments.ForName(argument) != nil {
			p.Report(rule.EdgeCopy, sdl.ArgumentPosition(e.Dir, argument), e.Field, e.Dir.Name, argument, typ)
		}
	}
}

// partOf reads a type with @subAggregate or @member, once for all fields that have it.
func partOf(project *draft.Project, def *ast.Definition) *draft.Part {
	if part := project.Parts[def]; part != nil {
		return part
	}
	o := &schema.Object{Name: def.Name, Description: def.Description, Part: true, Pos: sdl.Position(def.Position)}
	part := &draft.Part{Object: o, Model: &draft.Model{
		ReadModel: &schema.ReadModel{Name: def.Name, Pos: o.Pos}, Project: project, Def: def,
		Sources: map[*schema.Field]*ast.FieldDefinition{},
	}}
	project.Parts[def], project.Objects[def] = part, o
	(&partReader{part}).read()
	o.Fields, o.References = part.Fields, part.References
	for _, e := range part.Edges {
		o.Edges = append(o.Edges, e.Edge)
	}
	return part
}
