package schema

import "strings"

// checkCollisions finds entities whose keys could be the same, and queries that would read rows of others.
func checkCollisions(p *Project) {
	(&collisionChecker{Project: p, languages: map[*Half]*language{}}).check()
}

// collisionChecker compares the keys that entities of one table can have.
type collisionChecker struct {
	*Project
	languages map[*Half]*language
}

// check finds entities of one table whose keys could be the same, and queries that would read rows of others.
func (l *collisionChecker) check() {
	for _, t := range l.model.Tables {
		for i, m := range t.Entities {
			for _, other := range t.Entities[:i] {
				l.checkPrimaryKeys(m, other)
			}
		}
		for _, p := range t.Indexes {
			l.checkIndexRanges(p)
		}
	}
	for _, c := range l.model.Collections {
		l.checkCollectionRange(c)
	}
}

// checkPrimaryKeys decides by literals, separators and the kinds of the fields whether a row of one entity can have the
// key of a row of the other; a field that stands in both halves is taken as two.
func (l *collisionChecker) checkPrimaryKeys(m, other *ReadModel) {
	switch {
	case !m.SK.Exists() || !other.SK.Exists(): // reported as missing
		return
	case strings.EqualFold(m.Entity.Type, other.Entity.Type): // reported by the type
		return
	case !l.keysOf(&m.PK).meets(l.keysOf(&other.PK)):
		return
	}
	if l.keysOf(&m.SK).meets(l.keysOf(&other.SK)) {
		d := l.draftOf(m)
		d.report(keysMeet, d.keyPos(), nil, other.Name, keyText(m), keyText(other))
		return
	}
	l.checkPrimaryRange(m, other)
	l.checkPrimaryRange(other, m)
}

func (l *collisionChecker) checkPrimaryRange(m, other *ReadModel) {
	for _, q := range m.Queries() {
		if q.Index == nil && q.Connection != "" && rangeOf(m.SK).meets(l.keysOf(&other.SK)) {
			d := l.draftOf(m)
			d.report(readsOver, d.keyPos(), nil, q.Name, other.Name)
		}
	}
}

// checkIndexRanges finds indexes that lie among those of others. Members of one collection have literals that tell them
// apart.
func (l *collisionChecker) checkIndexRanges(p *PhysicalIndex) {
	for i, u := range p.Uses {
		for j, v := range p.Uses {
			if i == j || sameCollection(u.Index, v.Index) || !l.keysOf(&u.Index.PK).meets(l.keysOf(&v.Index.PK)) {
				continue
			}
			if p.SK == "" || l.readOf(u.Index).meets(l.keysOf(&v.Index.SK)) {
				d := l.draftOf(u.Model)
				d.report(readsOver, u.Index.Pos, nil, d.queryName(u.Index.suffix()), v.Model.Name)
			}
		}
	}
}

// readOf is the language of the sort keys that the query of an index reads: all of its range, or one key.
func (l *collisionChecker) readOf(x *Index) *language {
	if x.Unique {
		return l.keysOf(&x.SK)
	}
	return rangeOf(x.SK)
}

func sameCollection(a, b *Index) bool {
	return len(a.Collection) > 0 && len(b.Collection) > 0 && a.Collection[0] == b.Collection[0]
}

// checkCollectionRange finds entities that a collection would answer though they are none of its members.
func (l *collisionChecker) checkCollectionRange(c *Collection) {
	pk := l.keysOf(&c.Members[0].Index.PK)
	for _, u := range c.Index.Uses {
		if c.has(u.Model) || !pk.meets(l.keysOf(&u.Index.PK)) || !beginsWith(c.Prefix()).meets(l.keysOf(&u.Index.SK)) {
			continue
		}
		d := l.draftOf(u.Model)
		d.report(collectionMeets, u.Index.Pos, nil, u.Index.As, c.Name, c.Index.Name)
	}
}

// keyText writes the key of an entity as a template.
func keyText(m *ReadModel) string { return m.PK.text() + " " + m.SK.text() }
