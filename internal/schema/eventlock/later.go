package eventlock

import (
	"slices"
	"strconv"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/rule"
)

// CheckLater finds what events of the lock could not satisfy in a schema that came of the one of the lock by any number
// of changes, and that Next has marked by a lock of its own. An event may have been raised several times since: it is
// held against what the schema knows of the version that it was of.
func (l *Lock) CheckLater(now *schema.Model) schema.Diagnostics {
	known := *now
	known.EventEnums = slices.Concat(now.EventEnums, now.FormerEnums)
	c := &checker{lock: l, now: &known, compared: map[pair]bool{}}
	for _, was := range l.Events {
		t := typeNamed(now.Events, was.Name)
		if !c.goesOn(was) || t == nil {
			continue
		}
		if then := inVersion(t, was.Version); then != nil {
			c.root = t
			c.event(was, then)
			continue
		}
		version, before, next := strconv.Itoa(t.Version), strconv.Itoa(was.Version), strconv.Itoa(was.Version+1)
		c.add(rule.LockVersionLower.Broken(t.Pos, t.Name, "", version, before, next))
	}
	for _, was := range l.Retired {
		c.retired(was)
	}
	return inOrder(c.found)
}

// inVersion is what an event is, or was, in a version; nil where it has not come to that.
func inVersion(t *schema.EventType, version int) *schema.EventType {
	switch {
	case version == t.Version:
		return t
	case version < t.Version:
		return t.Former[version-1]
	}
	return nil
}
