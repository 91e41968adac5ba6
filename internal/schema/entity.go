package schema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// entityReader reads the keys and the indexes of an entity.
type entityReader struct{ *ModelDraft }

// keyDirectives compose the key and the indexes of a model with a table of its own.
var keyDirectives = []string{"id", "compositeId", "subId", "compositeSubId", "index", "indexSubId"}

// declareEntity reads which table an entity shares, if the model is one.
func declareEntity(d *ModelDraft) { (&entityReader{d}).readEntity() }

// readEntityKeys reads the primary key and the indexes of an entity.
func readEntityKeys(d *ModelDraft) { (&entityReader{d}).readKeys() }

// readEntity reads @entity, and the type and the table that it names.
func (d *entityReader) readEntity() {
	dir := d.entityDir()
	if dir == nil {
		for _, other := range d.def.Directives {
			if slices.Contains([]string{"primaryKey", "gsi", "keys"}, other.Name) {
				d.report(keyWithoutEntity, at(other.Position), nil, other.Name)
			}
		}
		return
	}
	name, named := textOf(dir, "table")
	d.Entity = &Entity{Table: d.project.sharedTable(name), Type: d.Name}
	switch {
	case d.Entity.Table != nil:
		d.Entity.Table.Entities = append(d.Entity.Table.Entities, d.ReadModel)
	case !named: // reported as missing
		d.Entity.Table = newTable("")
	default:
		d.report(entityTable, argumentPos(dir, "table"), nil, name, d.project.namedTables())
		d.Entity.Table = newTable(name)
	}
	if typ, ok := textOf(dir, "type"); ok {
		d.Entity.Type = typ
		if !keyNamePattern.MatchString(typ) {
			d.report(entityType, argumentPos(dir, "type"), nil, strconv.Quote(typ))
		}
	}
	for _, m := range d.marks {
		if a := m.Arguments.ForName("table"); a != nil {
			d.report(entityOwnTable, at(a.Position), nil, d.Table, m.Name)
		}
	}
	d.Table = d.Name
	for _, directive := range keyDirectives {
		for _, m := range d.marked(directive) {
			d.report(entityAndKey, at(m.dir.Position), m.field, directive)
		}
	}
}

// readKeys reads the primary key and the indexes of an entity.
func (d *entityReader) readKeys() {
	primary, keys := d.def.Directives.ForName("primaryKey"), d.def.Directives.ForName("keys")
	gsis := d.def.Directives.ForNames("gsi")
	switch {
	case keys != nil:
		for _, other := range d.def.Directives {
			if other.Name == "primaryKey" || other.Name == "gsi" {
				d.report(keysAndOther, at(other.Position), nil, other.Name)
			}
		}
		d.readTemplates(keys)
	case primary == nil:
		d.report(entityWithoutKey, at(d.entityDir().Position), nil)
	default:
		d.readPrimaryKey(primary)
		for _, dir := range gsis {
			d.readGSI(dir)
		}
	}
	if d.Entity.Table.Schema == "" && keys == nil && d.project.sharedTable(d.Entity.Table.Name) != nil {
		d.report(schemaMissing, at(d.entityDir().Position), nil, d.Entity.Table.Name)
	}
	for _, f := range composites(d.PK, d.SK) {
		if f.Nullable && !f.List {
			d.report(keyNullable, f.Pos, f, typeText(f))
		}
	}
}

func (d *entityReader) readPrimaryKey(dir *ast.Directive) {
	key := d.Entity.Table.key(d.Entity.Type, d.Entity.Table.Casing)
	pk, sk := d.composed(dir, "pk"), d.composed(dir, "sk")
	d.PK = Half{Fields: pk, Layout: key.PK(segmentsOf(pk)...)}
	d.SK = Half{Fields: sk, Layout: key.SK(segmentsOf(sk)...)}
}

// composed are the fields that half of a key is composed of.
func (d *entityReader) composed(dir *ast.Directive, half string) []*Field {
	var fields []*Field
	for _, name := range listOf(dir, half) {
		if f := d.compositeField(dir, half, name); f != nil {
			fields = append(fields, f)
		}
	}
	return fields
}

// compositeField is a field that stands in a key, nil where it is reported as none.
func (d *entityReader) compositeField(dir *ast.Directive, half, name string) *Field {
	f := d.field(name)
	if f == nil {
		d.report(compositeUnknown, argumentPos(dir, half), nil, dir.Name, half, name)
		return nil
	}
	d.checkKeyField(f, argumentPos(dir, half))
	return f
}

func (d *entityReader) readGSI(dir *ast.Directive) {
	x := d.newEntityIndex(dir, d.Entity.Table.Casing)
	if x == nil {
		return
	}
	d.readCollection(x, dir)
	d.Entity.Table.composeIndex(x, d.Entity.Type, d.composed(dir, "pk"), d.composed(dir, "sk"))
	d.addEntityIndex(x, dir)
}

// readCollection reads the collections that an index belongs to.
func (d *entityReader) readCollection(x *Index, dir *ast.Directive) {
	typ, typed := textOf(dir, "type")
	names := listOf(dir, "collection")
	x.Clustered = typ == "CLUSTERED"
	switch {
	case slices.Contains(d.project.api.dropped[dir], "collection"): // reported as wrong
		x.Clustered = false
	case typed && len(names) == 0:
		d.report(typeWithoutCollection, argumentPos(dir, "type"), nil, x.As, typ)
		x.Clustered = false
	case len(names) > 1 && !x.Clustered:
		d.report(nestedIsolated, argumentPos(dir, "collection"), nil, x.As, strings.Join(names, ", "))
	}
	for _, name := range names {
		if !namePattern.MatchString(name) {
			d.report(collectionName, argumentPos(dir, "collection"), nil, x.As, strconv.Quote(name))
			x.Clustered = false
			return
		}
	}
	x.Collection = names
}

// newEntityIndex begins an index with what @gsi and @keys have in common; nil where its names are wrong.
func (d *entityReader) newEntityIndex(dir *ast.Directive, casing string) *Index {
	x := &Index{Projection: "ALL", Casing: casing, Pos: at(dir.Position)}
	x.As, _ = textOf(dir, "as")
	x.Name, _ = textOf(dir, "name")
	switch {
	case !namePattern.MatchString(x.As):
		d.report(indexName, argumentPos(dir, "as"), nil, strconv.Quote(x.As))
		return nil
	case d.index(x.As) != nil:
		d.report(indexTwice, argumentPos(dir, "as"), nil, x.As)
		return nil
	case !physicalIndexPattern.MatchString(x.Name):
		d.report(physicalIndexName, argumentPos(dir, "name"), nil, x.As, strconv.Quote(x.Name))
		return nil
	}
	if text, ok := textOf(dir, "casing"); ok {
		x.Casing = text
	}
	x.Policy = policyOf(dir)
	x.Unique = flagOf(dir, "unique")
	return x
}

func policyOf(dir *ast.Directive) Policy {
	policy := Policy{PK: "PRESERVE", SK: "PRESERVE"}
	for _, o := range objectsOf(dir, "policy") {
		if text, ok := textOf(o, "pk"); ok {
			policy.PK = text
		}
		if text, ok := textOf(o, "sk"); ok {
			policy.SK = text
		}
	}
	return policy
}

func (d *entityReader) checkPolicy(x *Index, dir *ast.Directive) {
	for _, o := range objectsOf(dir, "policy") {
		if _, given := textOf(o, "sk"); given && !x.SK.Exists() {
			d.report(policyOfNothing, argumentPos(o, "sk"), nil, x.As)
		}
	}
}

// addEntityIndex takes an index whose halves are read.
func (d *entityReader) addEntityIndex(x *Index, dir *ast.Directive) {
	given := map[string]marked{}
	for _, a := range dir.Arguments {
		given[a.Name] = marked{dir: dir}
	}
	d.readProjection(&indexDraft{x, given})
	d.checkPolicy(x, dir)
	d.settings[x] = given
	d.Indexes = append(d.Indexes, x)
	if !x.Unique {
		return
	}
	fields := composites(x.PK, x.SK)
	switch {
	case len(fields) == 0:
		d.report(uniqueOfNothing, argumentPos(dir, "unique"), nil, x.As)
	case !slices.ContainsFunc(composites(d.PK, d.SK), func(f *Field) bool { return !slices.Contains(fields, f) }):
		d.report(uniqueByKey, argumentPos(dir, "unique"), nil, x.As)
	}
}
