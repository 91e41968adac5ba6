package stored

import (
	"slices"
	"strconv"
	"strings"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/vektah/gqlparser/v2/ast"
)

// mostLevels is how deeply objects may nest. DynamoDB takes documents of 32 levels, lists included.
const mostLevels = 8

// objectReader reads the object types that rows hold.
type objectReader struct{ *draft.Project }

// read reads an object type, once for all fields that have it.
func (r *objectReader) read(def *ast.Definition) *schema.Object {
	if o := r.Objects[def]; o != nil {
		return o
	}
	o := &schema.Object{Name: def.Name, Description: def.Description, Pos: sdl.Position(def.Position)}
	r.Objects[def] = o
	for _, f := range def.Fields {
		o.Fields = append(o.Fields, (&fieldReader{r.Project, def.Name}).read(f, len(o.Fields)))
	}
	return o
}

// finish adds the objects of all rows to the Model, in order of declaration, and checks what each is part of.
func (r *objectReader) finish() {
	for _, def := range r.API.Types {
		o := r.Objects[def]
		if o == nil {
			continue
		}
		r.Model.Objects = append(r.Model.Objects, o)
		if o.CopyOf != "" {
			continue // a read model, which is reported where it belongs to any
		}
		if all := r.API.AbstractsOf(def); len(all) > 0 {
			r.Add(rule.ObjectAbstract.Broken(o.Pos, o.Name, "", strings.Join(all, ", ")))
		}
	}
	r.checkCycles()
	r.checkDepth()
}

// checkCycles finds objects that contain themselves. Of the objects of a cycle, the one declared first reports it.
func (r *objectReader) checkCycles() {
	reported := map[*schema.Object]bool{}
	for _, o := range r.Model.Objects {
		way := wayBack(o, o, map[*schema.Object]bool{})
		if way == nil || slices.ContainsFunc(way, func(s step) bool { return reported[s.object] }) {
			continue
		}
		names := make([]string, len(way))
		for i, s := range way {
			reported[s.object] = true
			names[i] = s.object.Name + "." + s.field.Name
		}
		r.Add(rule.ObjectCycle.Broken(way[0].field.Pos, o.Name, way[0].field.Name, strings.Join(names, ", ")))
	}
}

// step is a field of an object that holds another one.
type step struct {
	object *schema.Object
	field  *schema.Field
}

// wayBack finds the steps that lead from one object to another, nil for none.
func wayBack(from, to *schema.Object, seen map[*schema.Object]bool) []step {
	seen[from] = true
	for _, f := range from.Fields {
		switch {
		case f.Object == nil:
		case f.Object == to:
			return []step{{from, f}}
		case !seen[f.Object]:
			if rest := wayBack(f.Object, to, seen); rest != nil {
				return append([]step{{from, f}}, rest...)
			}
		}
	}
	return nil
}

// checkDepth finds fields of rows that nest objects too deeply.
func (r *objectReader) checkDepth() {
	known := map[*schema.Object]int{}
	for _, d := range r.ReadModels {
		for _, f := range d.Fields {
			if n := depth(f.Object, known); n > mostLevels {
				d.Report(rule.ObjectDepth, f.Pos, f, strconv.Itoa(n), strconv.Itoa(mostLevels))
			}
		}
	}
}

// depth is how many levels of objects there are in an object, itself included; nil has none. What leads back to an
// object does not count: it is reported already.
func depth(o *schema.Object, known map[*schema.Object]int) int {
	if n, ok := known[o]; ok || o == nil {
		return n
	}
	known[o] = 0
	most := 0
	for _, f := range o.Fields {
		most = max(most, depth(f.Object, known))
	}
	known[o] = most + 1
	return most + 1
}
