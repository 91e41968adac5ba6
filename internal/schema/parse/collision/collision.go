// Package collision finds entities of one table whose keys could be the same, and queries whose range holds rows of
// others. It compares the sets of texts that keys can be, as automata.
package collision

import (
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
)

// Check finds entities whose keys could be the same, and queries that would read rows of others.
func Check(p *draft.Project) {
	(&collisionChecker{Project: p, languages: map[*schema.Half]*language{}}).check()
}

// collisionChecker compares the keys that entities of one table can have.
type collisionChecker struct {
	*draft.Project
	languages map[*schema.Half]*language
}

// check finds entities of one table whose keys could be the same, and queries that would read rows of others.
func (l *collisionChecker) check() {
	for _, t := range l.Model.Tables {
		for i, m := range t.Entities {
			if m.Aggregate != nil {
				l.checkItems(m.Aggregate)
			}
			for _, other := range t.Entities[:i] {
				l.checkPrimaryKeys(m, other)
			}
		}
		for _, p := range t.Indexes {
			l.checkIndexRanges(p)
		}
	}
	for _, c := range l.Model.Collections {
		l.checkCollectionRange(c)
	}
}

// checkPrimaryKeys decides by literals, separators and the kinds of the fields whether a row of one entity can have the
// key of a row of the other; a field that stands in both halves is taken as two.
func (l *collisionChecker) checkPrimaryKeys(m, other *schema.ReadModel) {
	switch {
	case !m.SK.Exists() || !other.SK.Exists(): // reported as missing
		return
	case strings.EqualFold(m.Entity.Type, other.Entity.Type): // reported by the type
		return
	case !l.keysOf(&m.PK).overlaps(l.keysOf(&other.PK)):
		return
	case m.Aggregate != nil || other.Aggregate != nil:
		l.reportPartition(m, other)
		return
	}
	if l.keysOf(&m.SK).overlaps(l.keysOf(&other.SK)) {
		d := l.DraftOf(m)
		d.Report(rule.KeysCollide, d.KeyPos(), nil, other.Name, keyText(m), keyText(other))
		return
	}
	l.checkPrimaryRange(m, other)
	l.checkPrimaryRange(other, m)
}

// reportPartition reports an aggregate in whose partitions other rows could lie: all that is in one is read as parts of
// the aggregate.
func (l *collisionChecker) reportPartition(m, other *schema.ReadModel) {
	if m.Aggregate == nil {
		m, other = other, m
	}
	d := l.DraftOf(m)
	d.Report(rule.AggregatePartition, d.KeyPos(), nil, other.Name, m.PK.Text())
}

func (l *collisionChecker) checkPrimaryRange(m, other *schema.ReadModel) {
	for _, q := range m.Queries() {
		if q.Index == nil && q.Connection != "" && l.primaryRange(m).overlaps(l.keysOf(&other.SK)) {
			d := l.DraftOf(m)
			d.Report(rule.ReadsOver, d.KeyPos(), nil, q.Name, other.Name)
		}
	}
}

// primaryRange is the language of the sort keys that the query of many rows reads.
func (l *collisionChecker) primaryRange(m *schema.ReadModel) *language {
	if m.SeriesOf == nil {
		return rangeOf(m.SK)
	}
	out := l.newKeys(&m.SeriesOf.SK, len(m.SeriesOf.SK.Fields))
	out.text(schema.HistoryMark)
	out.many(anyByte())
	return out
}

// checkIndexRanges finds indexes that lie among those of others. Members of one collection have literals that tell them
// apart.
func (l *collisionChecker) checkIndexRanges(p *schema.PhysicalIndex) {
	for i, u := range p.Uses {
		for j, v := range p.Uses {
			if i == j || isLocal(u) || sameCollection(u.Index, v.Index) ||
				!l.indexKeysOf(u, &u.Index.PK).overlaps(l.indexKeysOf(v, &v.Index.PK)) {
				continue
			}
			if p.SK == "" || l.readOf(u).overlaps(l.indexKeysOf(v, &v.Index.SK)) {
				d := l.DraftOf(u.Model)
				d.Report(rule.ReadsOver, u.Index.Pos, nil, d.QueryName(u.Index.Suffix()), v.Model.Name)
			}
		}
	}
}

// readOf is the language of the sort keys that the query of an index reads: all of its range, or one key.
func (l *collisionChecker) readOf(u schema.IndexUse) *language {
	if u.Index.Unique {
		return l.indexKeysOf(u, &u.Index.SK)
	}
	return rangeOf(u.Index.SK)
}

func sameCollection(a, b *schema.Index) bool {
	return len(a.Collection) > 0 && len(b.Collection) > 0 && a.Collection[0] == b.Collection[0]
}

// checkCollectionRange finds entities that a collection would answer though they are none of its members.
func (l *collisionChecker) checkCollectionRange(c *schema.Collection) {
	for _, u := range c.Index.Uses {
		pk, sk := l.indexKeysOf(u, &u.Index.PK), l.indexKeysOf(u, &u.Index.SK)
		meets := func(m schema.Member) bool {
			return l.indexKeysOf(schema.IndexUse(m), &m.Index.PK).overlaps(pk)
		}
		if c.Has(u.Model) || !slices.ContainsFunc(c.Members, meets) || !beginsWith(c.Prefix()).overlaps(sk) {
			continue
		}
		d := l.DraftOf(u.Model)
		d.Report(rule.CollectionCollides, u.Index.Pos, nil, u.Index.As, c.Name, c.Index.Name)
	}
}

// keyText writes the key of an entity as a template.
func keyText(m *schema.ReadModel) string { return m.PK.Text() + " " + m.SK.Text() }
