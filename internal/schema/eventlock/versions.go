package eventlock

import (
	"slices"
	"strconv"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/rule"
)

// goesOnAs reports whether an event is of the version that it was of: what is of another is brought to this one by an
// upcaster, so nothing of it need fit.
func (c *checker) goesOnAs(was, now *schema.EventType) bool {
	before, after, next := strconv.Itoa(was.Version), strconv.Itoa(now.Version), strconv.Itoa(was.Version+1)
	switch {
	case now.Version < was.Version:
		c.add(rule.LockVersionLower.Broken(now.Pos, now.Name, "", after, before, next))
	case now.Version > was.Version+1:
		c.add(rule.LockVersionSkipped.Broken(now.Pos, now.Name, "", after, before, next))
	}
	return now.Version == was.Version
}

// versions looks for what events were in former versions, and at the names of all that.
func (c *checker) versions() {
	names := c.goNames()
	for _, t := range c.now.Events {
		if c.joins(t) {
			continue
		}
		was := c.lock.eventBefore(c.now, t)
		if was == nil && t.Version > 1 {
			c.add(rule.LockVersionUnknown.Broken(t.Pos, t.Name, "", strconv.Itoa(t.Version)))
		}
		if was != nil && c.formers(was, t) {
			c.names(names, was, t)
		}
	}
}

// joins reports whether an event takes in another one while it has versions, or gets one. What the other one was in
// each version would have to be what this one was.
func (c *checker) joins(t *schema.EventType) bool {
	if t.Version == 1 {
		return false
	}
	var before []*schema.EventType
	for _, was := range c.lock.Events {
		if typeNamed(c.now.Events, was.Name) == t {
			before = append(before, was)
		}
	}
	if len(before) < 2 {
		return false
	}
	for _, was := range before {
		if was.Name != t.Name {
			c.add(rule.LockVersionJoined.Broken(t.Pos, t.Name, "", was.Name, strconv.Itoa(t.Version)))
		}
	}
	return true
}

// eventBefore is what an event of the schema is in the lock, nil for nothing.
func (l *Lock) eventBefore(now *schema.Model, t *schema.EventType) *schema.EventType {
	for _, was := range l.Events {
		if typeNamed(now.Events, was.Name) == t {
			return was
		}
	}
	return nil
}

// formers reports whether the lock has what the event was in each former version, as it was.
func (c *checker) formers(was, now *schema.EventType) bool {
	whole := len(c.found)
	for version := 1; version < was.Version; version++ {
		f, known := c.lock.formerOf(was, version)
		if !known {
			c.add(rule.LockFormerGone.Broken(was.Pos, was.Name, "", strconv.Itoa(was.Version), strconv.Itoa(version)))
			continue
		}
		if f.sum != sumOf(formerText(f.EventType, c.lock.EventEnums)) {
			c.add(rule.LockFormer.Broken(f.Pos, f.Name, "", now.Name, strconv.Itoa(version)))
		}
	}
	return len(c.found) == whole && now.Version <= was.Version+1
}

// goNames are the Go names of the events, and of what is inside of them, each with what has it.
func (c *checker) goNames() map[string]string {
	names := map[string]string{}
	for _, t := range slices.Concat(c.now.Events, c.now.Values) {
		names[schema.GoName(t.Name)] = "type " + t.Name
	}
	for _, e := range c.now.EventEnums {
		for _, name := range namesOf(e) {
			names[name] = "enum " + e.Name
		}
	}
	return names
}

// namesOf are the Go names of an enum and its values.
func namesOf(e *schema.Enum) []string {
	names := []string{schema.GoName(e.Name)}
	for _, v := range e.Values {
		names = append(names, schema.GoConst(e.Name, v))
	}
	return names
}

// names holds the names of all versions of an event against others.
func (c *checker) names(taken map[string]string, was, now *schema.EventType) {
	if now.Version == 1 {
		return
	}
	types, enums := c.lock.formersOf(was, now)
	present := copier{of: c.now, to: now.VersionName(now.Version), types: map[*schema.EventType]*schema.EventType{}}
	types = append(types, present.copy(now, present.to))
	name := schema.GoName(now.Name)
	needed := []string{"Upcast" + name, "TagsOf" + name}
	for _, t := range types {
		needed = append(needed, "Decode"+schema.GoName(t.Name))
		for _, part := range append(t.Inside(), t) {
			needed = append(needed, schema.GoName(part.Name))
		}
	}
	for _, e := range append(enums, present.enums...) {
		needed = append(needed, namesOf(e)...)
	}
	for _, name := range needed {
		own := "event " + now.Name
		if other, known := taken[name]; known && other != own {
			c.add(rule.LockVersionName.Broken(now.Pos, now.Name, "", name, other))
			continue
		}
		taken[name] = own
	}
}
