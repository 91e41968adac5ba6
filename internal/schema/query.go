package schema

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/foldql/foldql/internal/queryarg"
)

// Query is a field of the Query type that a read model or a collection makes.
type Query struct {
	Name string
	// Index is the index that it reads; nil means the primary key.
	Index *Index
	// Collection is what it reads, in place of a model; nil for a model.
	Collection *Collection
	// Connection is the type of its answer; "" means that it answers one row, or those of a list of ids or keys.
	Connection string
	// IDs is the field by whose values it finds many rows, which is the whole primary key; nil for any other query.
	IDs *Field
	// Keys are the fields by whose values together it finds many rows, which are the whole primary key, where they are
	// several; nil for any other query.
	Keys []*Field
	// Args are its arguments, in order.
	Args []string
	// Required and Optional are, for an entity or a collection, the fields whose values it takes under their own names. Of
	// the optional ones, which are of the sort key, each can be given only with all before it; eq, prefix, from and to are
	// conditions on the first that is not given. It has them where Optional holds any: prefix where one is of texts, from
	// and to where one is in its order in the key. The query of a history takes none of the optional ones, and from and to
	// alone.
	Required, Optional []*Field
	// Trailing are those fields of the partition key of an index that end it and can be null, in a collection for one of
	// its members: without them, or without the last of them, the rows are meant whose key a patch has cut short before
	// them. A row that was written whole without them is not in the index, so queries of an aggregate, which no patch
	// writes, have none.
	Trailing []*Field
	// PKParts and SKParts are, for a table of its own, the fields of a half of several that it takes one by one: of the
	// partition key all of them, in place of id, and of the sort key all, in place of _subId, or, for a connection,
	// leading ones, after which eq, prefix, from and to are conditions on the others.
	PKParts, SKParts []*Field
	// Operand is the GraphQL type of eq, from and to, for an entity: that of its Optional fields; where they have several,
	// or are dates or date-times, of which a part stands for its whole period, String, whose text is read as a value of
	// the field that it is a condition on. That of prefix is String.
	Operand string
	// Source is the field whose annotation makes it, nil for the primary key of a singleton and for a collection.
	Source *Field
}

// What a query of one row, and a list query with a sort key, take beside the fields of their keys.
var (
	rowArgs     = queryarg.Names(queryarg.Row)
	operandArgs = queryarg.Names(queryarg.Operand)
)

// pageArgs are what a list query takes beside that: those of a Relay connection too, where its pages are such.
func pageArgs(cursors bool) []string {
	if cursors {
		return queryarg.Names(queryarg.Page, queryarg.Cursor)
	}
	return queryarg.Names(queryarg.Page)
}

// listArgs are those of a list query of the model: by which rows are filtered too, where it has fields for that.
func listArgs(m *ReadModel) []string {
	if len(FilterFields(m)) > 0 {
		return append(queryarg.Names(queryarg.Filter), pageArgs(m.Cursors)...)
	}
	return pageArgs(m.Cursors)
}

// Many reports whether the query answers with the rows of a list of ids or keys.
func (q *Query) Many() bool { return q.IDs != nil || q.Keys != nil }

// Queries are the queries of the model in the order of the documentation: one row, many rows by their ids, the rows of
// a partition, the indexes. Their names are a contract with frontends.
func (m *ReadModel) Queries() []Query {
	if m.SeriesOf != nil {
		return []Query{m.historyQuery()}
	}
	if m.Entity != nil {
		return m.entityQueries()
	}
	one := Query{Name: m.QueryName(""), PKParts: m.PK.parts(), SKParts: m.SK.parts()}
	one.Args = m.keyArgs(one)
	if len(m.PK.Fields) > 0 {
		one.Source = m.PK.Fields[0]
	}
	queries := m.withMany(one)
	if len(m.SK.Fields) > 0 {
		queries = append(queries, Query{
			Name: m.QueryName("ById"), Connection: m.Name + "ByIdConnection", Source: m.SK.Fields[0],
			PKParts: one.PKParts, SKParts: one.SKParts,
			Args: slices.Concat([]string{"id"}, FieldNames(one.PKParts), FieldNames(one.SKParts), operandArgs,
				listArgs(m)),
		})
	}
	for _, x := range m.Indexes {
		q := Query{
			Name: m.QueryName(x.Suffix()), Index: x, Connection: m.Name + x.Suffix() + "Connection", Source: x.PK.Fields[0],
		}
		for _, f := range x.PK.Fields {
			q.Args = append(q.Args, f.Name)
		}
		if len(x.SK.Fields) > 0 {
			q.SKParts = x.SK.parts(q.Args...)
			q.Args = slices.Concat(q.Args, FieldNames(q.SKParts), operandArgs)
		}
		q.Args = append(q.Args, listArgs(m)...)
		queries = append(queries, q)
	}
	return queries
}

// entityQueries are the queries of an entity, which call the parts of its keys by their own names.
func (m *ReadModel) entityQueries() []Query {
	one := Query{Name: m.QueryName(""), Required: Composites(m.PK, m.SK)}
	one.Source = firstOf(one.Required)
	one.Args = FieldNames(one.Required)
	if len(one.Args) > 0 {
		one.Args = append(one.Args, rowArgs...)
	}
	queries := m.withMany(one)
	// Of a time series, the histories of its rows lie among them.
	if q := m.rangeQuery(m.PK, m.SK); len(q.Optional) > 0 && m.Series == nil {
		q.Name, q.Connection = m.QueryName("ByPrimary"), m.Name+"ByPrimaryConnection"
		queries = append(queries, q)
	}
	for _, x := range m.Indexes {
		q := Query{Required: Composites(x.PK, x.SK)}
		if x.Unique {
			q.Args = FieldNames(q.Required)
		} else {
			q = m.rangeQuery(x.PK, x.SK)
			if m.Aggregate == nil {
				q.split(x)
			}
			q.Connection = m.Name + x.Suffix() + "Connection"
		}
		q.Name, q.Index, q.Source = m.QueryName(x.Suffix()), x, firstOf(Composites(x.PK, x.SK))
		queries = append(queries, q)
	}
	return queries
}

// withMany is the query of one row, with the one of many rows where a field, or several together, name a row. An index
// whose query has the same name keeps it.
func (m *ReadModel) withMany(one Query) []Query {
	many, suffix, arg := Query{Source: one.Source}, "ByIds", IDsArg
	switch fields := Composites(m.PK, m.SK); len(fields) {
	case 0:
		return []Query{one}
	case 1:
		many.IDs = fields[0]
	default:
		many.Keys, suffix, arg = fields, "ByKeys", KeysArg
	}
	if slices.ContainsFunc(m.Indexes, func(x *Index) bool { return x.Suffix() == suffix }) {
		return []Query{one}
	}
	many.Name, many.Args = m.QueryName(suffix), append([]string{arg}, rowArgs...)
	return []Query{one, many}
}

// The arguments of a query of many rows that say which.
const (
	IDsArg  = "ids"
	KeysArg = "keys"
)

// KeyType is the input type of the keys of a model that have several fields.
func KeyType(model string) string { return model + "Key" }

// KeyArgs counts the arguments of a query of an entity that are fields of its keys; they are the first.
func (q *Query) KeyArgs() int {
	n := len(q.Required) + len(q.Trailing)
	for _, f := range q.Optional {
		if slices.Contains(q.Args, f.Name) {
			n++
		}
	}
	return n
}

// rangeQuery takes the partition key and leading parts of the sort key.
func (m *ReadModel) rangeQuery(pk, sk Half) Query {
	q := Query{Required: Composites(pk)}
	q.Optional = Composites(pk, sk)[len(q.Required):]
	q.Args = append(FieldNames(q.Required), FieldNames(q.Optional)...)
	q.Source = firstOf(q.Optional)
	if len(q.Optional) > 0 {
		q.Args = append(q.Args, sk.operands(q.Optional)...)
		q.Operand = operandType(q.Optional)
	}
	q.Args = append(q.Args, listArgs(m)...)
	return q
}

// split tells what of the partition key of indexes, which all have the same, has to be given from what has not.
func (q *Query) split(indexes ...*Index) {
	n := len(q.Required)
	nullable := func(x *Index) bool {
		return slices.ContainsFunc(x.PK.Fields, func(f *Field) bool { return f.Name == q.Required[n-1].Name && f.Nullable })
	}
	for n > 1 && slices.ContainsFunc(indexes, nullable) {
		n--
	}
	q.Required, q.Trailing = q.Required[:n:n], q.Required[n:]
}

// operands are the conditions on some fields of a sort half: values of numbers and booleans begin with nothing, and
// numbers that are not padded are not in their order.
func (h Half) operands(fields []*Field) []string {
	has := map[queryarg.Values]func(*Field) bool{
		queryarg.Any:     func(*Field) bool { return true },
		queryarg.Text:    func(f *Field) bool { return isText(f.Scalar) },
		queryarg.Ordered: h.sorts,
	}
	return slices.DeleteFunc(slices.Clone(operandArgs), func(name string) bool {
		a, _ := queryarg.Find(name)
		return !slices.ContainsFunc(fields, has[a.About])
	})
}

func isText(scalar string) bool {
	return slices.Contains([]string{"ID", "String", "Date", "DateTime"}, scalar)
}

func operandType(fields []*Field) string {
	for _, f := range fields[1:] {
		if TypeText(f) != TypeText(fields[0]) {
			return "String"
		}
	}
	if hasPeriods(fields[0].Scalar) {
		return "String"
	}
	return TypeText(fields[0])
}

// hasPeriods reports whether a part of a value of the scalar stands for a whole period.
func hasPeriods(scalar string) bool { return scalar == "Date" || scalar == "DateTime" }

func firstOf(fields []*Field) *Field {
	if len(fields) == 0 {
		return nil
	}
	return fields[0]
}

// FieldNames are the names of the fields, in their order.
func FieldNames(fields []*Field) []string {
	var all []string
	for _, f := range fields {
		all = append(all, f.Name)
	}
	return all
}

// keyArgs are the arguments that name one row.
func (m *ReadModel) keyArgs(q Query) []string {
	if len(m.PK.Fields) == 0 {
		return nil
	}
	args := append([]string{"id"}, FieldNames(q.PKParts)...)
	if len(m.SK.Fields) > 0 {
		args = append(append(args, m.SubID()), FieldNames(q.SKParts)...)
	}
	return append(args, rowArgs...)
}

// parts are the fields of a half of several, where none is called as another argument is. Those of cursors and filters
// take no name away from queries that there are: a field of such a name is an error where a query has both.
func (h Half) parts(taken ...string) []*Field {
	taken = slices.Concat(taken, rowArgs, operandArgs, pageArgs(false), []string{"id", "_subId"})
	if len(h.Fields) < 2 || slices.ContainsFunc(h.Fields, func(f *Field) bool { return slices.Contains(taken, f.Name) }) {
		return nil
	}
	return h.Fields
}

// SubID is the name of the sort key in the API: the field's, or _subId where it is a composite; "" without sort key and
// for an entity, whose parts of keys have names of their own.
func (m *ReadModel) SubID() string {
	switch {
	case len(m.SK.Fields) == 0 || m.Entity != nil:
		return ""
	case m.CompositeSK:
		return "_subId"
	}
	return m.SK.Fields[0].Name
}

// QueryName is PT and a suffix.
func (m *ReadModel) QueryName(suffix string) string { return prefixed(m.Plugin, m.Name+suffix) }

func prefixed(plugin, name string) string {
	if plugin == "" {
		return name
	}
	return plugin + "_" + name
}

// Suffix is what a query's name says of the index: its name in the API for an entity, else By and the name, whose own
// leading "by" is not doubled.
func (x *Index) Suffix() string {
	if x.Casing != "" { // of an entity
		return upperFirst(x.As)
	}
	name := x.Name
	if rest, ok := strings.CutPrefix(name, "by"); ok && !x.Unnamed {
		if next, _ := utf8.DecodeRuneInString(rest); rest != "" && !unicode.IsLower(next) {
			name = rest
		}
	}
	return "By" + upperFirst(name)
}

func upperFirst(name string) string { return strings.ToUpper(name[:1]) + name[1:] }
