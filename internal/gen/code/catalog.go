package code

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/foldql/foldql/internal/gen/served"
	"github.com/foldql/foldql/internal/queryarg"
	"github.com/foldql/foldql/internal/schema"
)

// catalogFile writes what the runtime knows of the API.
type catalogFile struct{ *File }

// Catalog writes what the runtime knows of the API.
func Catalog(m *schema.Model, module string) *File {
	f := &catalogFile{&File{pkg: "generated", doc: "Package generated holds gqlgen's executable schema, its resolvers, " +
		"and what the runtime knows of the API.\n"}}
	f.lib("graph/catalog")
	f.use(module + "/model")
	f.line("// Catalog describes the API to its runtime.")
	f.line("var Catalog = &catalog.Catalog{\nTypes: map[string]*catalog.Type{")
	for _, r := range m.ReadModels {
		f.catalogType(m, r)
	}
	f.line("},\nQueries: map[string]*catalog.Query{")
	for _, r := range m.ReadModels {
		for _, q := range r.Queries() {
			f.catalogQuery(r, q)
		}
	}
	for _, c := range m.Collections {
		f.catalogCollection(c)
	}
	f.nodeQueries(m)
	f.line("},\nSecured: %t,", secured(m))
	if nodes := m.Nodes(); len(nodes) > 0 {
		names := make([]string, len(nodes))
		for i, r := range nodes {
			names[i] = r.Name
		}
		f.line("Nodes: %s,", goStrings(names))
	}
	f.line("}")
	for _, o := range m.Objects {
		f.object(o)
	}
	return f.File
}

// objectVar is the variable that describes an object.
func objectVar(o *schema.Object) string { return "objectOf" + schema.GoName(o.Name) }

// objectOf writes the object type of a field, if it has one.
func objectOf(field *schema.Field) string {
	if field.Object == nil {
		return ""
	}
	return ", Object: " + objectVar(field.Object)
}

func (f *catalogFile) object(o *schema.Object) {
	f.line("\nvar %s = &catalog.Object{\nName: %q,\nFields: map[string]*catalog.ObjectField{", objectVar(o), o.Name)
	for _, field := range o.Fields {
		f.line("%q: {Ordinal: %d%s%s},", field.Name, field.Ordinal, objectOf(field), ruleOf(field.Auth))
	}
	f.line("},\n}")
}

func (f *catalogFile) catalogType(m *schema.Model, r *schema.ReadModel) {
	f.line("%q: {\nName: %q,\nModel: model.%sModel,\nOwner: %d,", r.Name, r.Name, schema.GoName(r.Name),
		ordinalOf(r.Owner))
	if r.Auth != nil {
		f.line("Rule: %s,", rule(r.Auth))
	}
	f.line("Fields: map[string]*catalog.Field{")
	for _, field := range r.Fields {
		if field.Hidden {
			continue
		}
		filterable := ""
		if field.Filterable {
			filterable = ", Filterable: true"
		}
		f.line("%q: {Name: %q, Ordinal: %d%s%s%s},", field.Name, field.Name, field.Ordinal, objectOf(field), filterable,
			ruleOf(field.Auth))
	}
	if r.NodeKey != nil {
		f.line("%q: {Name: %q, Ordinal: -1, NodeKey: %s},", m.Relay.ID, m.Relay.ID, ordinalsOf(r.NodeKey))
	}
	for _, j := range r.Joins {
		many, pages := "", ""
		if j.Many {
			many = ", Many: true"
		}
		if j.Paged {
			q, _ := j.Pages()
			pages = fmt.Sprintf(", Pages: %q", q.Name)
		}
		f.line("%q: {Name: %q, Ordinal: %d, Join: &catalog.Join{Target: %q%s, Index: %s%s%s}%s},",
			j.Name, j.Name, j.Source.Ordinal, j.Target.Name, many, f.index(j.Target, j.Via), heldBy(j), pages, ruleOf(j.Auth))
	}
	f.line("},\n},")
}

// heldBy says which fields hold the key of what is joined, where they are several.
func heldBy(j *schema.Join) string {
	if len(j.By) < 2 {
		return ""
	}
	return ", By: " + ordinalsOf(j.By)
}

// ordinalsOf is the literal of the ordinals of fields.
func ordinalsOf(fields []*schema.Field) string {
	ordinals := make([]string, len(fields))
	for i, f := range fields {
		ordinals[i] = strconv.Itoa(f.Ordinal)
	}
	return "[]int{" + strings.Join(ordinals, ", ") + "}"
}

// nodeQueries writes the queries of rows by their global identifiers.
func (f *catalogFile) nodeQueries(m *schema.Model) {
	if len(m.Nodes()) == 0 {
		return
	}
	f.lib("keys")
	for _, q := range []struct{ name, kind, argument string }{
		{schema.NodeQuery, "QueryNode", "id"}, {schema.NodesQuery, "QueryNodes", schema.IDsArg},
	} {
		f.line("%q: {\nName: %q,\nKind: catalog.%s,\nPK: []catalog.KeyArg{{Name: %q, Kind: keys.KindString}},\n},", q.name,
			q.name, q.kind, q.argument)
	}
}

func ruleOf(a *schema.Auth) string {
	if a == nil {
		return ""
	}
	return ", Rule: " + rule(a)
}

func rule(a *schema.Auth) string {
	var parts []string
	if len(a.Groups) > 0 {
		parts = append(parts, "Groups: "+goStrings(a.Groups))
	}
	if a.Owner {
		parts = append(parts, "Owner: true")
	}
	return "&catalog.Rule{" + strings.Join(parts, ", ") + "}"
}

// index is the ordinal of an index; nil is the table itself.
func (f *catalogFile) index(r *schema.ReadModel, x *schema.Index) string {
	if x == nil {
		return f.lib("querydb/driver") + ".Primary"
	}
	return fmt.Sprint(slices.Index(r.Indexes, x))
}

func (f *catalogFile) catalogQuery(r *schema.ReadModel, q schema.Query) {
	f.line("%q: {\nName: %q,\nType: %q,\nIndex: %s,", q.Name, q.Name, r.Name, f.index(r, q.Index))
	if q.Connection != "" {
		f.line("Kind: catalog.QueryPage,\nConnection: %q,\nHasOperands: %t,", q.Connection,
			r.SeriesOf != nil || slices.Contains(q.Args, queryarg.Eq))
		f.edge(r.Cursors, r.Name)
		if schema.HasFilter(r) {
			f.line("Filtered: true,")
		}
	}
	if q.Many() {
		f.line("Kind: catalog.QueryMany,")
		f.catalogArguments("PK", served.Arguments(r, q)[:1])
		f.catalogArguments("KeyFields", served.KeyFields(q))
		f.line("},")
		return
	}
	pk, sk := keyArguments(r, q, served.Arguments(r, q))
	f.catalogArguments("PK", pk[:len(pk)-len(q.PKParts)])
	f.catalogArguments("PKParts", pk[len(pk)-len(q.PKParts):])
	f.catalogArguments("SK", sk[:len(sk)-len(q.SKParts)])
	f.catalogArguments("SKParts", sk[len(sk)-len(q.SKParts):])
	if q.Index != nil {
		f.indexRule(q.Index.Group, q.Index.AuthTable, q.Index.GroupOnly)
	}
	f.line("},")
}

func (f *catalogFile) catalogCollection(c *schema.Collection) {
	q := c.Query()
	f.line("%q: {\nName: %q,\nKind: catalog.QueryPage,\nConnection: %q,", q.Name, q.Name, q.Connection)
	f.edge(c.Cursors, c.Union())
	f.line("Collection: &catalog.Collection{\nStored: model.%s,\nUnion: %q,\nMembers: %s,", collectionVar(c), c.Union(),
		goStrings(served.MemberNames(c)))
	if prefix := c.Prefix(); prefix != "" {
		f.line("Range: %s.Range{Op: keys.RangePrefix, Lo: %q},", f.lib("keys"), prefix)
	}
	f.line("},")
	f.catalogArguments("PK", served.CollectionArguments(c)[:len(c.PK)])
	f.indexRule(c.Group, c.AuthTable, slices.ContainsFunc(c.Members, func(m schema.Member) bool {
		return m.Index.GroupOnly
	}))
	f.line("},")
}

// edge writes the type of the edges of pages of such items, where they are Relay connections.
func (f *catalogFile) edge(cursors bool, items string) {
	if cursors {
		f.line("Edge: %q,", schema.EdgeType(items))
	}
}

// indexRule writes who may ask a query, unless everybody may.
func (f *catalogFile) indexRule(group string, authTable *schema.ReadModel, groupOnly bool) {
	if group == "" {
		return
	}
	table := ""
	if authTable != nil {
		table = fmt.Sprintf(", AuthTable: %q", authTable.Name)
	}
	if groupOnly {
		table += ", GroupOnly: true"
	}
	f.line("Rule: &catalog.IndexRule{Group: %q%s},", group, table)
}

func (f *catalogFile) catalogArguments(half string, args []served.Argument) {
	if len(args) == 0 {
		return
	}
	f.lib("keys")
	f.line("%s: []catalog.KeyArg{", half)
	for _, a := range args {
		kind := "KindString"
		if a.Field != nil {
			kind = scalarOf(a.Field, "").kind
		}
		if half == "PK" && a.Field != nil && !strings.HasSuffix(a.Type, "!") {
			f.line("{Name: %q, Kind: keys.%s, Optional: true},", a.Name, kind)
			continue
		}
		f.line("{Name: %q, Kind: keys.%s},", a.Name, kind)
	}
	f.line("},")
}

// keyArguments are the arguments that the halves of a query's key are composed of: the text of a half first, then its
// parts.
func keyArguments(r *schema.ReadModel, q schema.Query, args []served.Argument) (pk, sk []served.Argument) {
	switch {
	case r.Entity != nil && q.Index != nil:
		return argumentsOf(q.Index.PK, args), argumentsOf(q.Index.SK, args)
	case r.Entity != nil && r.SeriesOf != nil:
		return argumentsOf(r.SeriesOf.PK, args), argumentsOf(r.SeriesOf.SK, args)
	case r.Entity != nil:
		return argumentsOf(r.PK, args), argumentsOf(r.SK, args)
	case len(args) == 0:
		return nil, nil
	}
	n := 1 + len(q.PKParts)
	if q.Index != nil {
		n = len(q.Index.PK.Fields)
	}
	m := n + len(q.SKParts)
	if q.Connection == "" && len(r.SK.Fields) > 0 {
		m++
	}
	return args[:n], args[n:m]
}

// argumentsOf are those arguments of a query of an entity that half of its key is composed of.
func argumentsOf(h schema.Half, args []served.Argument) []served.Argument {
	var out []served.Argument
	for _, field := range h.Fields {
		i := slices.IndexFunc(args, func(a served.Argument) bool { return a.Name == field.Name })
		out = append(out, args[i])
	}
	return out
}

// secured reports whether the schema has any rule of who may read.
func secured(m *schema.Model) bool {
	for _, r := range m.ReadModels {
		guarded := func(f *schema.Field) bool { return f.Auth != nil }
		grouped := func(x *schema.Index) bool { return x.Group != "" }
		if r.Auth != nil || slices.ContainsFunc(r.Fields, guarded) || slices.ContainsFunc(r.Indexes, grouped) {
			return true
		}
	}
	for _, o := range m.Objects {
		if len(o.Guarded()) > 0 {
			return true
		}
	}
	return false
}
