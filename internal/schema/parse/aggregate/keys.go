package aggregate

import (
	"slices"
	"strconv"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/vektah/gqlparser/v2/ast"
)

// keyReader reads where the items of an aggregate lie.
type keyReader struct {
	*draft.Model
	dir *ast.Directive // @aggregate
}

func newKeyReader(d *draft.Model) *keyReader {
	return &keyReader{d, d.Def.Directives.ForName("aggregate")}
}

// Declare reads which table the items of an aggregate are in.
func Declare(d *draft.Model) { newKeyReader(d).declare() }

// ReadKeys reads the keys and the indexes of an aggregate, and of all its parts.
func ReadKeys(d *draft.Model) {
	k := newKeyReader(d)
	k.refuse()
	k.readContext()
	k.readPartition()
	k.readRoot()
	for _, list := range sdl.Objects(k.dir, "list") {
		k.readList(list)
	}
}

func (k *keyReader) declare() {
	name, named := sdl.Text(k.dir, "table")
	kind, _ := sdl.Text(k.dir, "root")
	k.Entity = &schema.Entity{Table: k.Project.SharedTable(name), Type: kind}
	switch {
	case k.Entity.Table != nil:
		k.Entity.Table.Entities = append(k.Entity.Table.Entities, k.ReadModel)
	case !named: // reported as missing
		k.Entity.Table = schema.NewTable("")
	default:
		k.Report(rule.AggregateTable, sdl.ArgumentPosition(k.dir, "table"), nil, name, k.Project.NamedTables())
		k.Entity.Table = schema.NewTable(name)
	}
	if k.Entity.Table.Schema == "" && k.Project.SharedTable(name) != nil {
		k.Report(rule.AggregateSchema, sdl.ArgumentPosition(k.dir, "table"), nil, name)
	}
	for _, m := range k.Marks {
		if a := m.Arguments.ForName("table"); a != nil {
			k.Report(rule.EntityOwnTable, sdl.Position(a.Position), nil, k.Table, m.Name, "aggregate")
		}
	}
	k.Table = k.Name
}

// Directives that make keys otherwise, and those that say what no aggregate does, with what to do about each.
var (
	otherKeys = []string{"entity", "primaryKey", "gsi", "keys"}
	keyFields = []string{"id", "compositeId", "subId", "compositeSubId", "index", "indexSubId", "identifier"}
)

const (
	nameInAggregate = "remove it, and name the fields of keys in @aggregate"
	wholeAndKept    = "remove it: an aggregate is replaced as a whole, and kept until it is deleted"
)

// refuse reports what cannot stand beside @aggregate.
func (k *keyReader) refuse() {
	for _, dir := range k.Def.Directives {
		switch {
		case slices.Contains(otherKeys, dir.Name):
			k.Report(rule.AggregateAnd, sdl.Position(dir.Position), nil, dir.Name, nameInAggregate)
		case dir.Name == "timeSeries":
			k.Report(rule.AggregateAnd, sdl.Position(dir.Position), nil, dir.Name, wholeAndKept)
		}
	}
	for _, name := range keyFields {
		for _, m := range k.Marked(name) {
			k.Report(rule.AggregateAnd, sdl.Position(m.Dir.Position), m.Field, name, nameInAggregate)
		}
	}
	for _, m := range k.Marked("ttl") {
		k.Report(rule.AggregateAnd, sdl.Position(m.Dir.Position), m.Field, "ttl", wholeAndKept)
	}
	if len(k.Marks) > 1 {
		k.Report(rule.AggregateWriters, sdl.Position(k.Marks[1].Position), nil)
	}
}

// fields are those that an argument names, as far as the root's item holds them.
func (k *keyReader) fields(dir *ast.Directive, argument, shown string) (fields []*schema.Field) {
	for _, name := range sdl.List(dir, argument) {
		f := k.Field(name)
		if f == nil || f.Item {
			k.Report(rule.AggregateField, sdl.ArgumentPosition(dir, argument), nil, shown, name)
			continue
		}
		fields = append(fields, f)
	}
	return fields
}

// key are fields of a key.
func (k *keyReader) key(dir *ast.Directive, argument, shown string, mayBeNull bool) []*schema.Field {
	fields := k.fields(dir, argument, shown)
	for _, f := range fields {
		pos := sdl.ArgumentPosition(dir, argument)
		k.CheckKeyField(f, pos)
		if f.Nullable && !f.List && !mayBeNull {
			k.Report(rule.AggregateNullable, pos, f, k.DeclaredType(f))
		}
	}
	return fields
}

func (k *keyReader) readContext() {
	for _, f := range k.fields(k.dir, "context", "context") {
		pos := sdl.ArgumentPosition(k.dir, "context")
		switch {
		case f.List:
			k.Report(rule.ContextType, pos, f, "a list")
		case f.Object != nil:
			k.Report(rule.ContextType, pos, f, "of the type "+k.DeclaredType(f))
		default:
			k.Aggregate.Context = append(k.Aggregate.Context, f)
		}
	}
}

// readPartition reads the partition key, and the local index.
func (k *keyReader) readPartition() {
	t := k.Entity.Table
	k.Aggregate.Collection = k.Name
	pk := k.key(k.dir, "pk", "pk", false)
	for _, c := range sdl.Objects(k.dir, "collection") {
		if name, named := sdl.Text(c, "name"); named {
			k.Aggregate.Collection = name
			k.checkName("the collection", name, sdl.ArgumentPosition(c, "name"))
		}
		index, given := sdl.Text(c, "index")
		sk := k.key(c, "sk", "collection.sk", false)
		if !given {
			continue
		}
		x := &schema.Index{Name: index, Projection: "ALL", Casing: t.Casing, Policy: preserve, Pos: sdl.Position(c.Position)}
		x.PK, x.SK = t.Item(k.Aggregate.Collection, nil, pk), t.Item(k.Aggregate.Collection, nil, sk)
		k.Settings[x] = map[string]draft.Marked{
			"name": {Dir: indexAsName(c)}, "pkAttribute": {Dir: withText(c, "pkAttribute", t.PK)},
		}
		k.Aggregate.Local = x
		k.checkIndexName(k.Aggregate.Collection, x, sdl.ArgumentPosition(c, "index"))
	}
	k.PK = t.Item(k.Aggregate.Collection, nil, pk)
}

var preserve = schema.Policy{PK: "PRESERVE", SK: "PRESERVE"}

// readList reads an index by which aggregates are listed.
func (k *keyReader) readList(dir *ast.Directive) {
	t := k.Entity.Table
	x := &schema.Index{Projection: "ALL", Casing: t.Casing, Policy: preserve, Pos: sdl.Position(dir.Position)}
	x.As, _ = sdl.Text(dir, "as")
	x.Name, _ = sdl.Text(dir, "index")
	name, _ := sdl.Text(dir, "name")
	switch {
	case !draft.NamePattern.MatchString(x.As):
		k.Report(rule.IndexName, sdl.ArgumentPosition(dir, "as"), nil, strconv.Quote(x.As))
		return
	case k.IndexNamed(x.As) != nil:
		k.Report(rule.IndexTwice, sdl.ArgumentPosition(dir, "as"), nil, x.As)
		return
	}
	k.checkIndexName(x.As, x, sdl.ArgumentPosition(dir, "index"))
	k.checkName("the list", name, sdl.ArgumentPosition(dir, "name"))
	x.PK = t.Item(name, nil, k.key(dir, "pk", "list.pk", true))
	x.SK = t.Item(name, nil, k.key(dir, "sk", "list.sk", true))
	k.Settings[x] = map[string]draft.Marked{"name": {Dir: indexAsName(dir)}}
	for _, a := range dir.Arguments {
		if a.Name == "group" || a.Name == "authTable" {
			k.Settings[x][a.Name] = draft.Marked{Dir: dir}
		}
	}
	k.Indexes = append(k.Indexes, x)
}

func (k *keyReader) checkIndexName(as string, x *schema.Index, pos schema.Pos) {
	if !draft.IndexPattern.MatchString(x.Name) {
		k.Report(rule.PhysicalIndexName, pos, nil, as, strconv.Quote(x.Name))
	}
}

func (k *keyReader) checkName(what, name string, pos schema.Pos) {
	if !draft.KeyNamePattern.MatchString(name) {
		k.Report(rule.AggregateName, pos, nil, what, strconv.Quote(name))
	}
}

// indexAsName is an annotation that names its index as @gsi does: the argument index alone, called name.
func indexAsName(dir *ast.Directive) *ast.Directive {
	c := *dir
	c.Arguments = nil
	if a := dir.Arguments.ForName("index"); a != nil {
		name := *a
		name.Name = "name"
		c.Arguments = ast.ArgumentList{&name}
	}
	return &c
}

// withText is an object of an annotation with one member more.
func withText(dir *ast.Directive, name, text string) *ast.Directive {
	c := *dir
	c.Arguments = ast.ArgumentList{{Name: name, Position: dir.Position,
		Value: &ast.Value{Kind: ast.StringValue, Raw: text, Position: dir.Position}}}
	return &c
}
