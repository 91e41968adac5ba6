package entity

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/foldql/foldql/querydb/aggregate"
)

// nameAttributes finds the names that one or all of the uses give the key attributes.
func (l *indexUses) nameAttributes(p *schema.PhysicalIndex) {
	p.PK = l.attribute(p, "pkAttribute", p.Name+"pk")
	if p.FirstUse().Index.SK.Exists() {
		p.SK = l.attribute(p, "skAttribute", p.Name+"sk")
	}
	for _, u := range p.Uses {
		u.Index.PKAttribute, u.Index.SKAttribute = p.PK, p.SK
		if _, given := l.DraftOf(u.Model).SettingOf(u.Index, "skAttribute"); given && !u.Index.SK.Exists() {
			d := l.DraftOf(u.Model)
			d.Report(rule.AttributeOfNothing, d.UsePos(u.Index, "skAttribute"), nil, u.Index.As)
		}
	}
}

func (l *indexUses) attribute(p *schema.PhysicalIndex, argument, name string) string {
	var first *schema.ReadModel
	for _, u := range p.Uses {
		d := l.DraftOf(u.Model)
		m, given := d.SettingOf(u.Index, argument)
		if !given {
			continue
		}
		text, _ := sdl.Text(m.Dir, argument)
		switch {
		case first == nil:
			name, first = text, u.Model
		case text != name:
			d.Report(rule.IndexAttributes, d.UsePos(u.Index, argument), nil, p.Name, argument, text, first.Name, name)
		}
	}
	return name
}

var attributePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,254}$`)

// bookkeeping are the attributes that rows carry beside fields and keys; those of positions begin with "_pos.".
var bookkeeping = []string{"_own", "_by", "_rev", "_deleted", "_ttl", "_expires", "_pos"}

// checkAttributes finds attributes of a table that would get one name.
func (l *indexUses) checkAttributes(t *schema.Table) {
	taken := map[string]string{}
	take := func(name, what, argument string, pos schema.Pos) {
		other := taken[name]
		switch {
		case !attributePattern.MatchString(name):
			l.Add(rule.AttributeName.Broken(pos, "", "", t.Name, what, strconv.Quote(name)))
		case slices.Contains(bookkeeping, name) || strings.HasPrefix(name, "_pos."):
			l.Add(rule.AttributeReserved.Broken(pos, "", "", t.Name, what, name))
		case other != "":
			l.Add(rule.AttributeTaken.Broken(pos, "", "", t.Name, what, name, other, argument))
		default:
			taken[name] = what
		}
	}
	for _, a := range []struct{ name, what, argument string }{
		{t.PK, "partition key", "pk"}, {t.SK, "sort key", "sk"}, {t.Discriminator, "discriminator", "discriminator"},
	} {
		take(a.name, a.what, a.argument, sdl.ArgumentPosition(l.TableDirs[t], a.argument))
	}
	for _, p := range t.Indexes {
		if p.PK == t.PK {
			l.checkLocal(p)
		} else {
			take(p.PK, "partition key of index "+p.Name, "pkAttribute", l.attributePos(p, "pkAttribute"))
		}
		if p.SK != "" {
			take(p.SK, "sort key of index "+p.Name, "skAttribute", l.attributePos(p, "skAttribute"))
		}
	}
	for _, m := range t.Entities {
		if m.Aggregate != nil {
			l.checkItems(t, m, taken)
			continue
		}
		for _, f := range m.Fields {
			if what, ok := taken[f.Name]; ok {
				l.DraftOf(m).Report(rule.AttributeField, f.Pos, f, what, t.Name)
			}
		}
	}
}

// checkItems finds attributes of the items of an aggregate that have names of others.
func (l *indexUses) checkItems(t *schema.Table, m *schema.ReadModel, taken map[string]string) {
	for _, n := range m.Aggregate.Root.All() {
		typ := m.Name
		if n.Edge != nil {
			typ = n.Edge.Field.Object.Name
		}
		for _, f := range n.Own {
			if what, ok := taken[f.Name]; ok {
				l.Add(rule.AttributeField.Broken(f.Pos, typ, f.Name, what, t.Name))
			}
			if n.Edge == nil && f.Name == digest {
				l.Add(rule.PartReserved.Broken(f.Pos, typ, f.Name))
			}
		}
		for _, by := range n.Discriminators {
			if what, ok := taken[by.Name]; ok {
				part := l.PartOf(n.Edge)
				part.Report(rule.DiscriminatorName, n.Edge.Pos, n.Edge.Field, by.Name, "the "+what+" of table "+t.Name)
			}
		}
	}
}

// digest is the attribute of a root that says which items there are besides.
const digest = aggregate.DigestField

// checkLocal holds an index to what one must be whose partition key is the table's own attribute, as that of a local
// secondary index is: the rows of a partition of the table, in another order.
func (l *indexUses) checkLocal(p *schema.PhysicalIndex) {
	for _, u := range p.Uses {
		d := l.DraftOf(u.Model)
		switch {
		case u.Model.Aggregate != nil && u.Index == u.Model.Aggregate.Local:
		case !sameKeys(u.Index.PK, u.Model.PK):
			d.Report(rule.LocalKey, d.UsePos(u.Index, "pkAttribute"), nil, p.Name, p.PK)
		case !u.Index.SK.Exists():
			d.Report(rule.LocalUnsorted, d.UsePos(u.Index, "pkAttribute"), nil, p.Name, p.PK)
		}
	}
}

// sameKeys reports whether two halves are composed of the same fields in the same way.
func sameKeys(a, b schema.Half) bool {
	x, y := a.Layout, b.Layout
	return x.Head == y.Head && x.Tail == y.Tail && x.Casing == y.Casing && x.Escape == y.Escape &&
		slices.Equal(x.Segments, y.Segments)
}

// attributePos is where the attribute is named, or the index first used.
func (l *indexUses) attributePos(p *schema.PhysicalIndex, argument string) schema.Pos {
	for _, u := range p.Uses {
		d := l.DraftOf(u.Model)
		if m, given := d.SettingOf(u.Index, argument); given {
			return sdl.ArgumentPosition(m.Dir, argument)
		}
	}
	return p.Pos
}
