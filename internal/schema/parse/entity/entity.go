package entity

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

// entityReader reads the keys and the indexes of an entity.
type entityReader struct{ *draft.Model }

// keyDirectives compose the key and the indexes of a model with a table of its own.
var keyDirectives = []string{"id", "compositeId", "subId", "compositeSubId", "index", "indexSubId"}

// Declare reads which table an entity shares, if the model is one.
func Declare(d *draft.Model) { (&entityReader{d}).readEntity() }

// ReadKeys reads the primary key and the indexes of an entity.
func ReadKeys(d *draft.Model) { (&entityReader{d}).readKeys() }

// readEntity reads @entity, and the type and the table that it names.
func (d *entityReader) readEntity() {
	dir := d.EntityDir()
	if dir == nil {
		for _, other := range d.Def.Directives {
			if slices.Contains([]string{"primaryKey", "gsi", "keys"}, other.Name) {
				d.Report(rule.KeyWithoutEntity, sdl.Position(other.Position), nil, other.Name)
			}
		}
		return
	}
	name, named := sdl.Text(dir, "table")
	d.Entity = &schema.Entity{Table: d.Project.SharedTable(name), Type: d.Name}
	switch {
	case d.Entity.Table != nil:
		d.Entity.Table.Entities = append(d.Entity.Table.Entities, d.ReadModel)
	case !named: // reported as missing
		d.Entity.Table = schema.NewTable("")
	default:
		d.Report(rule.EntityTable, sdl.ArgumentPosition(dir, "table"), nil, name, d.Project.NamedTables())
		d.Entity.Table = schema.NewTable(name)
	}
	if typ, ok := sdl.Text(dir, "type"); ok {
		d.Entity.Type = typ
		if !draft.KeyNamePattern.MatchString(typ) {
			d.Report(rule.EntityType, sdl.ArgumentPosition(dir, "type"), nil, strconv.Quote(typ))
		}
	}
	for _, m := range d.Marks {
		if a := m.Arguments.ForName("table"); a != nil {
			d.Report(rule.EntityOwnTable, sdl.Position(a.Position), nil, d.Table, m.Name, "entity")
		}
	}
	d.Table = d.Name
	for _, directive := range keyDirectives {
		for _, m := range d.Marked(directive) {
			d.Report(rule.EntityAndKey, sdl.Position(m.Dir.Position), m.Field, directive)
		}
	}
}

// readKeys reads the primary key and the indexes of an entity.
func (d *entityReader) readKeys() {
	primary, keys := d.Def.Directives.ForName("primaryKey"), d.Def.Directives.ForName("keys")
	gsis := d.Def.Directives.ForNames("gsi")
	switch {
	case keys != nil:
		for _, other := range d.Def.Directives {
			if other.Name == "primaryKey" || other.Name == "gsi" {
				d.Report(rule.KeysAndOther, sdl.Position(other.Position), nil, other.Name)
			}
		}
		d.readTemplates(keys)
	case primary == nil:
		d.Report(rule.EntityWithoutKey, sdl.Position(d.EntityDir().Position), nil)
	default:
		d.readPrimaryKey(primary)
		for _, dir := range gsis {
			d.readGSI(dir)
		}
	}
	if d.Entity.Table.Schema == "" && keys == nil && d.Project.SharedTable(d.Entity.Table.Name) != nil {
		d.Report(rule.SchemaMissing, sdl.Position(d.EntityDir().Position), nil, d.Entity.Table.Name)
	}
	for _, f := range schema.Composites(d.PK, d.SK) {
		if f.Nullable && !f.List {
			d.Report(rule.KeyNullable, f.Pos, f, d.DeclaredType(f))
		}
	}
}

func (d *entityReader) readPrimaryKey(dir *ast.Directive) {
	key := d.Entity.Table.Key(d.Entity.Type, d.Entity.Table.Casing)
	pk, sk := d.composed(dir, "pk"), d.composed(dir, "sk")
	d.PK = schema.Half{Fields: pk, Layout: key.PK(schema.SegmentsOf(pk)...)}
	d.SK = schema.Half{Fields: sk, Layout: key.SK(schema.SegmentsOf(sk)...)}
}

// composed are the fields that half of a key is composed of.
func (d *entityReader) composed(dir *ast.Directive, half string) []*schema.Field {
	var fields []*schema.Field
	for _, name := range sdl.List(dir, half) {
		if f := d.compositeField(dir, half, name); f != nil {
			fields = append(fields, f)
		}
	}
	return fields
}

// compositeField is a field that stands in a key, nil where it is reported as none.
func (d *entityReader) compositeField(dir *ast.Directive, half, name string) *schema.Field {
	f := d.Field(name)
	if f == nil {
		d.Report(rule.CompositeUnknown, sdl.ArgumentPosition(dir, half), nil, dir.Name, half, name)
		return nil
	}
	d.CheckKeyField(f, sdl.ArgumentPosition(dir, half))
	return f
}

func (d *entityReader) readGSI(dir *ast.Directive) {
	x := d.newEntityIndex(dir, d.Entity.Table.Casing)
	if x == nil {
		return
	}
	d.readCollection(x, dir)
	d.Entity.Table.ComposeIndex(x, d.Entity.Type, d.composed(dir, "pk"), d.composed(dir, "sk"))
	d.addEntityIndex(x, dir)
}

// readCollection reads the collections that an index belongs to.
func (d *entityReader) readCollection(x *schema.Index, dir *ast.Directive) {
	typ, typed := sdl.Text(dir, "type")
	names := sdl.List(dir, "collection")
	x.Clustered = typ == "CLUSTERED"
	switch {
	case slices.Contains(d.Project.API.Dropped[dir], "collection"): // reported as wrong
		x.Clustered = false
	case typed && len(names) == 0:
		d.Report(rule.TypeWithoutCollection, sdl.ArgumentPosition(dir, "type"), nil, x.As, typ)
		x.Clustered = false
	case len(names) > 1 && !x.Clustered:
		d.Report(rule.NestedIsolated, sdl.ArgumentPosition(dir, "collection"), nil, x.As, strings.Join(names, ", "))
	}
	for _, name := range names {
		if !draft.NamePattern.MatchString(name) {
			d.Report(rule.CollectionName, sdl.ArgumentPosition(dir, "collection"), nil, x.As, strconv.Quote(name))
			x.Clustered = false
			return
		}
	}
	x.Collection = names
}

// newEntityIndex begins an index with what @gsi and @keys have in common; nil where its names are wrong.
func (d *entityReader) newEntityIndex(dir *ast.Directive, casing string) *schema.Index {
	x := &schema.Index{Projection: "ALL", Casing: casing, Pos: sdl.Position(dir.Position)}
	x.As, _ = sdl.Text(dir, "as")
	x.Name, _ = sdl.Text(dir, "name")
	switch {
	case !draft.NamePattern.MatchString(x.As):
		d.Report(rule.IndexName, sdl.ArgumentPosition(dir, "as"), nil, strconv.Quote(x.As))
		return nil
	case d.IndexNamed(x.As) != nil:
		d.Report(rule.IndexTwice, sdl.ArgumentPosition(dir, "as"), nil, x.As)
		return nil
	case !draft.IndexPattern.MatchString(x.Name):
		d.Report(rule.PhysicalIndexName, sdl.ArgumentPosition(dir, "name"), nil, x.As, strconv.Quote(x.Name))
		return nil
	}
	if text, ok := sdl.Text(dir, "casing"); ok {
		x.Casing = text
	}
	x.Policy = policyOf(dir)
	x.Unique = sdl.Flag(dir, "unique")
	return x
}

func policyOf(dir *ast.Directive) schema.Policy {
	policy := schema.Policy{PK: "PRESERVE", SK: "PRESERVE"}
	for _, o := range sdl.Objects(dir, "policy") {
		if text, ok := sdl.Text(o, "pk"); ok {
			policy.PK = text
		}
		if text, ok := sdl.Text(o, "sk"); ok {
			policy.SK = text
		}
	}
	return policy
}

func (d *entityReader) checkPolicy(x *schema.Index, dir *ast.Directive) {
	for _, o := range sdl.Objects(dir, "policy") {
		if _, given := sdl.Text(o, "sk"); given && !x.SK.Exists() {
			d.Report(rule.PolicyOfNothing, sdl.ArgumentPosition(o, "sk"), nil, x.As)
		}
	}
}

// addEntityIndex takes an index whose halves are read.
func (d *entityReader) addEntityIndex(x *schema.Index, dir *ast.Directive) {
	given := map[string]draft.Marked{}
	for _, a := range dir.Arguments {
		given[a.Name] = draft.Marked{Dir: dir}
	}
	d.ReadProjection(&draft.IndexDraft{Index: x, Given: given})
	d.checkPolicy(x, dir)
	d.Settings[x] = given
	d.Indexes = append(d.Indexes, x)
	if !x.Unique {
		return
	}
	fields := schema.Composites(x.PK, x.SK)
	switch {
	case len(fields) == 0:
		d.Report(rule.UniqueOfNothing, sdl.ArgumentPosition(dir, "unique"), nil, x.As)
	case !slices.ContainsFunc(schema.Composites(d.PK, d.SK), func(f *schema.Field) bool {
		return !slices.Contains(fields, f)
	}):
		d.Report(rule.UniqueByKey, sdl.ArgumentPosition(dir, "unique"), nil, x.As)
	}
}
