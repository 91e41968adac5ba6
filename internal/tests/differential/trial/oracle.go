package trial

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/auth"
	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// consult compares pages of every query that has them with a plain filter of the rows: those whose fields have the
// values that are asked for, in the order of their sort keys. The caller may read everything.
func (t *trial) consult() error {
	all := auth.NewContext(t.ctx, auth.Caller{Subject: "ann", Groups: t.groups()})
	for _, name := range t.queryNames() {
		q := t.Catalog.Queries[name]
		if q.Kind == catalog.QueryMany {
			if err := t.consultMany(all, q); err != nil {
				return err
			}
		}
		if q.Kind != catalog.QueryPage || q.Collection == nil && t.Catalog.Types[q.Type].Model.HistoryOf != "" {
			continue // a history is asked for by the whole key of a row, and hides fields of its own
		}
		for range 20 {
			members, only := t.members(q)
			from := t.rows[members[t.rng.IntN(len(members))]]
			if len(from) == 0 {
				continue
			}
			asked := from[t.rng.IntN(len(from))]
			given, ok := t.arguments(q, asked)
			if !ok {
				continue
			}
			reverse := t.rng.IntN(2) == 0
			query := fmt.Sprintf("{ page: %s(%sreverse: %t, limit: 1000%s) { items { __typename %s } } }", q.Name, given,
				reverse, only, t.identity(q))
			want := t.page(q, members, asked, reverse)
			if got := string(ask(t.plans, all, query, nil)); got != want {
				return fmt.Errorf("%s\nof the rows of %v\n got %s\nwant %s", query, members, got, want)
			}
		}
	}
	return nil
}

// consultMany compares the rows under lists of ids or keys with those that are stored.
func (t *trial) consultMany(ctx context.Context, q *catalog.Query) error {
	m := t.Catalog.Types[q.Type].Model
	last := m.Fields[slices.Concat(m.PK.Fields, m.SK.Fields)[0]]
	if n := len(q.KeyFields); n > 0 {
		last = *fieldOf(m, q.KeyFields[n-1].Name)
	}
	isText := last.Enum == "" && (last.Scalar == "ID" || last.Scalar == "String")
	for range 20 {
		ids, want := []string{}, []string{}
		for range t.rng.IntN(5) {
			rows := t.rows[q.Type]
			if len(rows) == 0 {
				continue
			}
			r := rows[t.rng.IntN(len(rows))]
			if isText && t.rng.IntN(4) == 0 {
				id, err := nameOf(q, m, r, `"there is none"`)
				if err != nil {
					return err
				}
				ids, want = append(ids, id), append(want, "null")
			}
			id, err := nameOf(q, m, r, "")
			if err != nil {
				return err
			}
			ids, want = append(ids, id), append(want, t.item(q, r))
		}
		query := fmt.Sprintf("{ rows: %s(%s: [%s]) { __typename %s } }", q.Name, q.PK[0].Name, strings.Join(ids, ", "),
			t.identity(q))
		wanted := `{"data":{"rows":[` + strings.Join(want, ",") + `]}}`
		if got := string(ask(t.plans, ctx, query, nil)); got != wanted {
			return fmt.Errorf("%s\n got %s\nwant %s", query, got, wanted)
		}
	}
	return nil
}

// nameOf is what names a row in a list of ids or keys, with another value for its last field unless that is "".
func nameOf(q *catalog.Query, m *querydb.Model, r stored, other string) (string, error) {
	if len(q.KeyFields) == 0 {
		field := &m.Fields[slices.Concat(m.PK.Fields, m.SK.Fields)[0]]
		if other != "" {
			return other, nil
		}
		if m.Entity == nil {
			id, err := json.Marshal(r.at.Key.PK)
			return string(id), err
		}
		return literal(field, r)
	}
	parts := make([]string, len(q.KeyFields))
	for i, k := range q.KeyFields {
		field := fieldOf(m, k.Name)
		value, err := literal(field, r)
		if err != nil {
			return "", err
		}
		if other != "" && i == len(parts)-1 {
			value = other
		}
		parts[i] = k.Name + ": " + value
	}
	return "{" + strings.Join(parts, ", ") + "}", nil
}

func fieldOf(m *querydb.Model, name string) *driver.Field {
	return &m.Fields[slices.IndexFunc(m.Fields, func(f driver.Field) bool { return f.Name == name })]
}

// literal is the value that a row has in a field, as a document writes it.
func literal(field *driver.Field, r stored) (string, error) {
	text, err := json.Marshal(r.row[field.Name])
	if field.Enum != "" {
		return strings.Trim(string(text), `"`), err
	}
	return string(text), err
}

func (t *trial) queryNames() []string {
	var names []string
	for name := range t.Catalog.Queries {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// members are the types that are asked for, all of them or some, and the argument that says so.
func (t *trial) members(q *catalog.Query) (types []string, only string) {
	if q.Collection == nil {
		return []string{q.Type}, ""
	}
	types = slices.Clone(q.Collection.Members)
	if t.rng.IntN(2) == 0 {
		return types, ""
	}
	t.rng.Shuffle(len(types), func(i, k int) { types[i], types[k] = types[k], types[i] })
	types = types[:1+t.rng.IntN(len(types))]
	return types, ", only: [" + strings.Join(types, ", ") + "]"
}

// halves are those of the key that a query finds rows of a type by; index is where rows have that key among those of
// their indexes, driver.Primary for that of the table.
func (t *trial) halves(q *catalog.Query, typ string) (pk, sk querydb.Half, index int) {
	m := t.Catalog.Types[typ].Model
	index = q.Index
	if q.Collection != nil {
		i := slices.Index(q.Collection.Members, typ)
		index = q.Collection.Stored.Members[i].Index
	}
	if index == driver.Primary {
		return m.PK, m.SK, index
	}
	return m.Indexes[index].PK, m.Indexes[index].SK, m.PhysicalIndex(index)
}

// arguments ask for the partition of a row; ok is false where it is in none.
func (t *trial) arguments(q *catalog.Query, of stored) (text string, ok bool) {
	pk, _, index := t.halves(q, of.typ)
	if index != driver.Primary && !(of.at.Indexes[index].HasPK && of.at.Indexes[index].HasSK) {
		return "", false
	}
	args := q.PK
	if len(q.PKParts) > 0 && t.rng.IntN(2) == 0 {
		args = q.PKParts
	} else if len(q.PK) == 1 && len(pk.Fields) != 1 || len(q.PK) == 1 && q.PK[0].Name == "id" {
		key, err := json.Marshal(of.at.Key.PK)
		return fmt.Sprintf("%s: %s, ", q.PK[0].Name, key), err == nil && index == driver.Primary &&
			t.Catalog.Types[of.typ].Model.Entity == nil
	}
	for i, a := range args {
		f := t.Catalog.Types[of.typ].Model.Fields[pk.Fields[i]]
		value, err := json.Marshal(of.row[f.Name])
		if f.Enum != "" {
			value = []byte(strings.Trim(string(value), `"`))
		}
		if err != nil {
			return "", false
		}
		text += fmt.Sprintf("%s: %s, ", a.Name, value)
	}
	return text, true
}

// selvesOf are the virtual fields of a type that lead from each row to that row: by the fields of its whole key, and by
// the text of it.
func selvesOf(t *catalog.Type) (names []string) {
	for _, name := range []string{"self", "selfByText"} {
		isOne := name == "self" || !t.Model.SK.Layout.Exists() // else it leads to the last row of the partition
		if f := t.Fields[name]; f != nil && f.Join != nil && isOne {
			names = append(names, name)
		}
	}
	return names
}

// identity selects what tells rows apart: the fields of their primary keys, and the row that these lead to.
func (t *trial) identity(q *catalog.Query) string {
	if q.Collection == nil {
		text := strings.Join(t.keyFields(q.Type), " ")
		selves := ""
		for _, self := range selvesOf(t.Catalog.Types[q.Type]) {
			selves += " " + self + " { " + text + " }"
		}
		return text + selves
	}
	var b strings.Builder
	for _, typ := range q.Collection.Members {
		fmt.Fprintf(&b, "... on %s { ", typ)
		for _, f := range t.keyFields(typ) {
			fmt.Fprintf(&b, "%s_%s: %s ", typ, f, f)
		}
		for _, self := range selvesOf(t.Catalog.Types[typ]) {
			fmt.Fprintf(&b, "%s_%s: %s { %s } ", typ, self, self, strings.Join(t.keyFields(typ), " "))
		}
		b.WriteString("} ")
	}
	return b.String()
}

func (t *trial) keyFields(typ string) (names []string) {
	m := t.Catalog.Types[typ].Model
	for _, f := range slices.Concat(m.PK.Fields, m.SK.Fields) {
		names = append(names, m.Fields[f].Name)
	}
	return names
}

// page is the answer that the rows give: those of the types that have the values of the one asked for.
func (t *trial) page(q *catalog.Query, types []string, asked stored, reverse bool) string {
	var found []stored
	for _, typ := range types {
		for _, r := range t.rows[typ] {
			if t.same(q, r, asked) {
				found = append(found, r)
			}
		}
	}
	slices.SortFunc(found, func(a, b stored) int { return t.order(q, a, b) })
	if reverse {
		slices.Reverse(found)
	}
	items := []string{}
	for _, r := range found {
		items = append(items, t.item(q, r))
	}
	return `{"data":{"page":{"items":[` + strings.Join(items, ",") + `]}}}`
}

// same reports whether a row has the values that another one is found by.
func (t *trial) same(q *catalog.Query, r, asked stored) bool {
	pk, _, index := t.halves(q, r.typ)
	of, _, _ := t.halves(q, asked.typ)
	if index != driver.Primary && !(r.at.Indexes[index].HasPK && r.at.Indexes[index].HasSK) {
		return false
	}
	for i := range pk.Fields {
		m, other := t.Catalog.Types[r.typ].Model, t.Catalog.Types[asked.typ].Model
		f, g := m.Fields[pk.Fields[i]], other.Fields[of.Fields[i]]
		if valueOf(f, r.row[f.Name]) != valueOf(g, asked.row[g.Name]) {
			return false
		}
	}
	return true
}

func (t *trial) order(q *catalog.Query, a, b stored) int {
	sk := func(r stored) string {
		if _, _, index := t.halves(q, r.typ); index != driver.Primary {
			return r.at.Indexes[index].SK
		}
		return r.at.Key.SK
	}
	return cmp.Or(cmp.Compare(sk(a), sk(b)), cmp.Compare(a.at.Key.PK, b.at.Key.PK), cmp.Compare(a.at.Key.SK, b.at.Key.SK))
}

// item is a row as the answer shows it.
func (t *trial) item(q *catalog.Query, r stored) string {
	prefix := ""
	if q.Collection != nil {
		prefix = r.typ + "_"
	}
	text := `{"__typename":"` + r.typ + `",` + keyText(t.Catalog.Types[r.typ].Model, r, prefix)
	for _, self := range selvesOf(t.Catalog.Types[r.typ]) {
		text += `,"` + prefix + self + `":{` + keyText(t.Catalog.Types[r.typ].Model, r, "") + "}"
	}
	return text + "}"
}

// keyText is the primary key of a row as an answer shows its fields, each once, under names with the prefix.
func keyText(m *querydb.Model, r stored, prefix string) string {
	var members []string
	for _, f := range slices.Concat(m.PK.Fields, m.SK.Fields) {
		member := `"` + prefix + m.Fields[f].Name + `":` + string(r.at.Record.JSON(f))
		if !slices.Contains(members, member) {
			members = append(members, member)
		}
	}
	return strings.Join(members, ",")
}
