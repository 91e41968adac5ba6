package eventlock

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/rule"
)

// Check finds what events of the lock could not satisfy in the schema.
func (l *Lock) Check(now *schema.Model) schema.Diagnostics {
	c := &checker{lock: l, now: now, compared: map[pair]bool{}}
	for _, was := range l.Events {
		if !c.goesOn(was) {
			continue
		}
		if t := typeNamed(now.Events, was.Name); t != nil && c.goesOnAs(was, t) {
			c.root = t
			c.event(was, t)
		}
	}
	c.versions()
	for _, was := range l.Retired {
		c.retired(was)
	}
	return inOrder(c.found)
}

// inOrder is what was found, in the order of the files.
func inOrder(found schema.Diagnostics) schema.Diagnostics {
	slices.SortStableFunc(found, func(a, b schema.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line))
	})
	return found
}

// checker compares what was with what is now.
type checker struct {
	lock     *Lock
	now      *schema.Model
	found    schema.Diagnostics
	compared map[pair]bool     // types may hold one another, and are held in several places
	root     *schema.EventType // the event that is compared
}

type pair struct{ was, now *schema.EventType }

// raised are what a rule says of the event that could be raised in place of what it wants: its name, and the version.
func (c *checker) raised() (name, version string) {
	return c.root.Name, strconv.Itoa(c.root.Version + 1)
}

func (c *checker) add(d schema.Diagnostic) { c.found = append(c.found, d) }

// goesOn reports whether the schema knows each name of an event.
func (c *checker) goesOn(was *schema.EventType) bool {
	now := typeNamed(slices.Concat(c.now.Events, c.now.Retired), was.Name)
	if now != nil {
		c.keepsNames(was, now)
		return true
	}
	if t := typeNamed(c.now.Values, was.Name); t != nil {
		c.add(rule.LockHeld.Broken(t.Pos, t.Name, "", holderOf(c.now, t), t.Name))
	} else {
		c.add(rule.LockGone.Broken(was.Pos, was.Name, "", was.Name))
	}
	return false
}

// keepsNames wants each former name of an event to be one of the same event still.
func (c *checker) keepsNames(was, now *schema.EventType) {
	known := slices.Concat(c.now.Events, c.now.Retired)
	for _, name := range was.Was {
		if typeNamed(known, name) != now {
			c.add(rule.LockName.Broken(now.Pos, now.Name, "", name))
		}
	}
}

// retired wants a retired event to stay so, under all of its names.
func (c *checker) retired(was *schema.EventType) {
	if t := typeNamed(slices.Concat(c.now.Events, c.now.Values), was.Name); t != nil {
		c.add(rule.LockRetired.Broken(t.Pos, t.Name, "", was.Name))
	} else if t := typeNamed(c.now.Retired, was.Name); t == nil {
		c.add(rule.LockGone.Broken(was.Pos, was.Name, "", was.Name))
	} else {
		c.keepsNames(was, t)
	}
}

// event compares the data of an event, or of an object inside of one.
func (c *checker) event(was, now *schema.EventType) {
	if c.compared[pair{was, now}] {
		return
	}
	c.compared[pair{was, now}] = true
	met := map[*schema.EventField]bool{}
	for _, before := range was.Fields {
		f := fieldNamed(now, before.Name)
		if f == nil { // it is not read any more, but where another field has one of its former names
			c.successors(now, before)
			continue
		}
		met[f] = true
		c.field(now, before, f)
		c.takenOver(was, now, f, func(name string) bool {
			known := name == before.Name || slices.Contains(before.Was, name)
			return !known && (name == f.Name || slices.Contains(f.Was, name))
		})
	}
	for _, f := range now.Fields {
		if !met[f] {
			c.newField(was, now, f)
		}
	}
}

// successors compares a removed field with those that are read under its former names now.
func (c *checker) successors(t *schema.EventType, was *schema.EventField) {
	for _, name := range was.Was {
		if f := fieldNamed(t, name); f != nil {
			c.values(t, was, f)
		}
	}
}

// field compares a field that there was.
func (c *checker) field(t *schema.EventType, was, now *schema.EventField) {
	for _, name := range was.Was {
		if fieldNamed(t, name) != now {
			c.add(rule.LockName.Broken(now.Pos, t.Name, now.Name, name))
		}
	}
	if mayLack(was) && !mayLack(now) {
		c.missing(t, now)
	}
	c.values(t, was, now)
}

// values wants each value of the one field to be one of the other.
func (c *checker) values(t *schema.EventType, was, now *schema.EventField) {
	switch {
	case was.List != now.List, was.ElemNullable && !now.ElemNullable, (was.Object != nil) != (now.Object != nil):
		c.otherType(t, now, typeText(was))
	case was.Object != nil:
		c.event(was.Object, now.Object)
	case was.Enum != "" && now.Enum != "":
		c.enum(t, enumValues(c.lock.Model, was.Enum), now)
	case now.Enum != "" || !fits(was.Scalar, now.Scalar):
		c.otherType(t, now, typeText(was))
	}
}

func (c *checker) missing(t *schema.EventType, f *schema.EventField) {
	name, next := c.raised()
	c.add(rule.LockMissing.Broken(f.Pos, t.Name, f.Name, name, next))
}

func (c *checker) otherType(t *schema.EventType, f *schema.EventField, was string) {
	name, next := c.raised()
	c.add(rule.LockType.Broken(f.Pos, t.Name, f.Name, was, typeText(f), name, next))
}

// enum wants each value that an event may have.
func (c *checker) enum(t *schema.EventType, was []string, now *schema.EventField) {
	values := enumValues(c.now, now.Enum)
	for _, v := range was {
		if !slices.Contains(values, v) {
			name, next := c.raised()
			c.add(rule.LockEnum.Broken(now.Pos, t.Name, now.Name, v, now.Enum, name, next))
		}
	}
}

// newField looks at a field that the type did not have, or not any more.
func (c *checker) newField(was, t *schema.EventType, f *schema.EventField) {
	if removed, found := c.lock.removedField(was, f.Name); !mayLack(f) && found {
		name, next := c.raised()
		c.add(rule.LockRemoved.Broken(f.Pos, t.Name, f.Name, f.Name, removed.typ+"!", was.Name, name, next))
	} else if !mayLack(f) {
		c.missing(t, f)
	}
	c.takenOver(was, t, f, func(name string) bool { return name == f.Name || slices.Contains(f.Was, name) })
}

// takenOver looks at fields that the type has no more, under whose names the field is read now.
func (c *checker) takenOver(was, t *schema.EventType, f *schema.EventField, under func(name string) bool) {
	for _, r := range c.lock.removed[was.Name] {
		if under(r.name) {
			r.check(c, t, f)
		}
	}
}

// wider are, by scalar, those that take each of its values, in each form that events may have them in.
var wider = map[string][]string{
	"Int":      {"Int64", "Float", "Decimal", "ID"},
	"Int64":    {"Decimal", "ID"},
	"Float":    {"Decimal"},
	"String":   {"ID"},
	"Date":     {"String", "ID"},
	"DateTime": {"String", "ID"},
}

// fits reports whether what is read as one scalar can be read as the other.
func fits(was, now string) bool { return was == now || slices.Contains(wider[was], now) }
