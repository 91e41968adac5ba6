// Package naming finds names that two parts of the API, or of the generated Go code, would share.
package naming

import (
	"fmt"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/codegen/templates"
	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
)

// queryNames holds the names of queries, arguments and types against one another.
type queryNames struct{ *draft.Project }

// Check finds names that two parts of the API, or two parts of the generated code, would share.
func Check(p *draft.Project) {
	(&queryNames{p}).check()
	(&goNames{p}).check()
}

// check finds queries, arguments and types of the API that would get one name.
func (l *queryNames) check() {
	makers := map[string]string{} // of a query or a connection
	for _, f := range l.OwnQueries() {
		makers[f.Name] = "the project's own Query"
	}
	l.takeRelayNames(makers)
	l.takeFilterNames(makers)
	for _, d := range l.ReadModels {
		faulty := false // what is wrong with the name of the query of one row is with that of many
		for _, q := range d.Queries() {
			if q.Many() && faulty {
				continue
			}
			if strings.HasPrefix(q.Name, "__") {
				d.Report(rule.ReservedName, sdl.Position(d.Def.Position), nil, q.Name)
				faulty = true
			}
			if other, taken := makers[q.Name]; taken {
				d.Report(rule.QueryTaken, d.QueryPos(q), q.Source, q.Name, other)
				faulty = true
				continue
			}
			makers[q.Name] = d.QueryOrigin(q)
			checkArguments(d, q)
			if q.Connection != "" {
				checkType(d, q, q.Connection, makers)
			}
		}
	}
	for _, c := range l.Model.Collections {
		l.checkCollectionNames(c, makers)
	}
	l.checkHistories(makers)
	for _, o := range l.Model.Objects {
		if def := l.API.Named[o.Name]; def != nil && o.CopyOf != "" {
			l.Add(rule.TypeTaken.Broken(o.Pos, o.CopyOf, "", o.Name, "is declared at "+sdl.Position(def.Position).String()))
		}
	}
}

// takeRelayNames takes what the API has for clients of Relay.
func (l *queryNames) takeRelayNames(makers map[string]string) {
	if l.Model.Relay == nil {
		return
	}
	const relay = "foldql.relay of gqlgen.yml"
	makers[schema.NodeQuery], makers[schema.NodesQuery] = relay, relay
	for _, name := range l.Model.RelayTypes() {
		makers["type "+name] = relay
	}
}

// checkHistories takes the names of the types of events that time series keep.
func (l *queryNames) checkHistories(makers map[string]string) {
	for _, d := range l.ReadModels {
		if d.SeriesOf != nil {
			checkType(d, d.Queries()[0], d.Name, makers)
		}
	}
}

// checkCollectionNames takes the names that a collection makes.
func (l *queryNames) checkCollectionNames(c *schema.Collection, makers map[string]string) {
	d, q := l.DraftOf(c.Members[0].Model), c.Query()
	if other, taken := makers[q.Name]; taken {
		d.Report(rule.CollectionTaken, c.Pos, nil, c.Name, c.Table.Name, "the query "+q.Name, other+" makes as well",
			otherName(d.Project.Model, c))
		return
	}
	makers[q.Name] = d.QueryOrigin(q)
	checkArguments(d, q)
	for _, typ := range []string{c.Connection(), c.Union(), c.MemberEnum()} {
		checkType(d, q, typ, makers)
	}
}

// otherName is how a collection gets another name in the API. @collection means it by its table and name, and its index
// where those are not enough; where they are those of another one too, only another name in its keys helps.
func otherName(m *schema.Model, c *schema.Collection) string {
	if c.As != c.Name {
		return "give it another name in the as of its @collection"
	}
	index := ""
	for _, o := range m.Collections {
		switch {
		case o == c || o.Table != c.Table || o.Name != c.Name:
		case o.Index == c.Index:
			return fmt.Sprintf("give the collection another name in its keys, in the last place of collection: %s; %s lies "+
				"in the same index, and @collection cannot tell them apart", schema.QuotedList(c.Path), schema.QuotedList(o.Path))
		default:
			index = fmt.Sprintf("index: %q, ", c.Index.Name)
		}
	}
	return fmt.Sprintf("give the collection another name in the API: extend schema @collection(table: %q, name: %q, "+
		"%sas: …)", c.Table.Name, c.Name, index)
}

// checkType takes the name of a type that a query makes, unless another type has it.
func checkType(d *draft.Model, q schema.Query, typ string, makers map[string]string) {
	key := "type " + typ
	other, taken := makers[key]
	why := "is made by " + other + " as well"
	if def := d.Project.API.Named[typ]; def != nil {
		taken, why = true, "is declared at "+sdl.Position(def.Position).String()
	}
	switch {
	case !taken:
		makers[key] = d.QueryOrigin(q)
	case q.Collection != nil:
		d.Report(rule.CollectionTaken, d.QueryPos(q), nil, q.Collection.Name, q.Collection.Table.Name, "the type "+typ, why,
			otherName(d.Project.Model, q.Collection))
	default:
		d.Report(rule.TypeTaken, d.QueryPos(q), q.Source, typ, why)
	}
}

// checkArguments finds fields whose names are those of other arguments of a query, as they stand in the SDL or in Go,
// where the first parameter is ctx.
func checkArguments(d *draft.Model, q schema.Query) {
	fields := slices.Concat(d.SK.Fields[:min(1, len(d.SK.Fields))], q.PKParts, q.SKParts)
	switch {
	case d.SeriesOf != nil:
		fields = slices.Concat(q.Required, q.PKParts, q.SKParts)
	case d.Entity != nil:
		fields = slices.Concat(q.Required, q.Trailing, q.Optional)
	case q.Index != nil:
		fields = slices.Concat(q.Index.PK.Fields, q.SKParts)
	}
	owner := map[string]*schema.Field{}
	taken := map[string]bool{"ctx": true}
	for _, arg := range q.Args {
		inGo := templates.ToGoPrivate(arg)
		i := slices.IndexFunc(fields, func(f *schema.Field) bool { return f.Name == arg })
		f := owner[inGo]
		if i >= 0 {
			f = fields[i]
		}
		if taken[inGo] && f != nil {
			d.Report(rule.ArgumentTaken, f.Pos, f, f.Name, q.Name, inGo)
		}
		taken[inGo], owner[inGo] = true, f
	}
}
