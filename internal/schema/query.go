package schema

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Query is a field of the Query type that a read model makes.
type Query struct {
	Name string
	// Index is the index that it reads; nil means the primary key.
	Index *Index
	// Connection is the type of its answer; "" means that it answers one row.
	Connection string
	// Args are its arguments, in order.
	Args []string
	// Source is the field whose annotation makes it, nil for the primary key of a singleton.
	Source *Field
}

// operands are the sort-key conditions of a query, pages what every connection takes.
var (
	operands = []string{"eq", "prefix", "from", "to"}
	pages    = []string{"reverse", "limit", "nextToken"}
)

// Queries are the queries of the model in the order of the documentation: one row, the rows of a partition, the
// indexes. Their names are a contract with frontends.
func (m *ReadModel) Queries() []Query {
	one := Query{Name: m.queryName(""), Args: m.keyArgs()}
	if len(m.PK.Fields) > 0 {
		one.Source = m.PK.Fields[0]
	}
	queries := []Query{one}
	if len(m.SK.Fields) > 0 {
		queries = append(queries, Query{
			Name: m.queryName("ById"), Connection: m.Name + "ByIdConnection", Source: m.SK.Fields[0],
			Args: slices.Concat([]string{"id"}, operands, pages),
		})
	}
	for _, x := range m.Indexes {
		q := Query{
			Name: m.queryName(x.suffix()), Index: x, Connection: m.Name + x.suffix() + "Connection", Source: x.PK.Fields[0],
		}
		for _, f := range x.PK.Fields {
			q.Args = append(q.Args, f.Name)
		}
		if len(x.SK.Fields) > 0 {
			q.Args = append(q.Args, operands...)
		}
		q.Args = append(q.Args, pages...)
		queries = append(queries, q)
	}
	return queries
}

// keyArgs are the arguments that name one row.
func (m *ReadModel) keyArgs() []string {
	switch {
	case len(m.PK.Fields) == 0:
		return nil
	case len(m.SK.Fields) == 0:
		return []string{"id", "consistent"}
	}
	return []string{"id", m.SubID(), "consistent"}
}

// SubID is the name of the sort key in the API: the field's, or _subId where it is a composite; "" without sort key.
func (m *ReadModel) SubID() string {
	switch {
	case len(m.SK.Fields) == 0:
		return ""
	case m.CompositeSK:
		return "_subId"
	}
	return m.SK.Fields[0].Name
}

// queryName is PT and a suffix.
func (m *ReadModel) queryName(suffix string) string {
	if m.Plugin == "" {
		return m.Name + suffix
	}
	return m.Plugin + "_" + m.Name + suffix
}

// suffix is By and the name of the index, whose own leading "by" is not doubled.
func (x *Index) suffix() string {
	name := x.Name
	if rest, ok := strings.CutPrefix(name, "by"); ok && !x.Unnamed {
		if next, _ := utf8.DecodeRuneInString(rest); rest != "" && !unicode.IsLower(next) {
			name = rest
		}
	}
	return "By" + strings.ToUpper(name[:1]) + name[1:]
}
