package schema

import (
	"slices"
)

// joinReader reads the virtual fields of a read model.
type joinReader struct{ *ModelDraft }

// readJoins reads @resolves and @resolvesMany.
func (d *joinReader) readJoins() {
	for _, f := range d.Fields {
		for _, dir := range d.sources[f].Directives {
			if dir.Name == "resolves" || dir.Name == "resolvesMany" {
				d.readJoin(marked{f, dir})
			}
		}
	}
}

func (d *joinReader) readJoin(m marked) {
	pos := at(m.dir.Position)
	many := m.dir.Name == "resolvesMany"
	switch {
	case m.field.List && !many:
		d.report(joinList, pos, m.field)
	case !m.field.List && many:
		d.report(joinNoList, pos, m.field)
	}
	name, _ := textOf(m.dir, "field")
	free := d.checkJoinName(m, name)
	target := d.joinTarget(m)
	if target == nil {
		return
	}
	j := &Join{Name: name, Source: m.field, Target: target.ReadModel, Many: many, Auth: d.authOf(m.field), Pos: pos}
	if !d.joinKey(m, j) || !free {
		return
	}
	d.Joins = append(d.Joins, j)
	switch {
	case j.Via != nil:
		d.report(joinCosts, pos, m.field, target.Name, "by its index "+j.Via.As)
	case len(target.SK.Fields) > 0 && target.Entity == nil:
		d.report(joinCosts, pos, m.field, target.Name, "though it has a sort key")
	}
}

// checkJoinName reports whether a virtual field can have the name, and why not.
func (d *joinReader) checkJoinName(m marked, name string) (free bool) {
	taken := d.field(name) != nil || slices.ContainsFunc(d.Joins, func(j *Join) bool { return j.Name == name })
	switch {
	case !namePattern.MatchString(name):
		d.report(joinName, argumentPos(m.dir, "field"), m.field, "\""+name+"\"")
	case taken:
		d.report(joinTaken, argumentPos(m.dir, "field"), m.field, name)
	default:
		return true
	}
	return false
}

// joinTarget finds the model that a join names, nil where it reported that there is none.
func (d *joinReader) joinTarget(m marked) *ModelDraft {
	table, _ := textOf(m.dir, "table")
	target := d.project.byTable(table)
	if target == nil {
		d.report(joinUnknown, argumentPos(m.dir, "table"), m.field, table, d.project.tables())
		return nil
	}
	plugin, given := textOf(m.dir, "plugin")
	if given && plugin != target.Plugin {
		is := "it has none"
		if target.Plugin != "" {
			is = "it is of plugin " + target.Plugin
		}
		d.report(joinPlugin, argumentPos(m.dir, "plugin"), m.field, table, plugin, is)
		return nil
	}
	return target
}

// joinKey finds what the join looks ids up in, and holds the id against it.
func (d *joinReader) joinKey(m marked, j *Join) bool {
	pk, sk, by := j.Target.PK, j.Target.SK, "its primary key"
	if via, given := textOf(m.dir, "via"); given {
		if j.Via = j.Target.index(via); j.Via == nil {
			d.report(joinVia, argumentPos(m.dir, "via"), m.field, j.Target.Name, via)
			return false
		}
		pk, sk, by = j.Via.PK, j.Via.SK, "its index "+via
	}
	fields := pk.Fields
	if len(fields) == 0 || j.Target.Entity != nil && j.Via == nil {
		fields = composites(pk, sk) // an entity is looked up by its whole key, and all may be in one partition
	}
	switch {
	case len(fields) == 0:
		d.report(joinSingleton, argumentPos(m.dir, "table"), m.field, j.Target.Name)
		return false
	case len(fields) > 1 && j.Target.Entity != nil:
		d.report(joinEntity, at(m.dir.Position), m.field, j.Target.Name, by, Half{Fields: fields}.describe())
		return false
	case len(fields) > 1:
		d.report(joinComposite, at(m.dir.Position), m.field, j.Target.Name, by)
		return false
	}
	j.Key = fields[0]
	if !sameKind(m.field, j.Key) {
		elem := *m.field
		elem.List = false
		d.report(joinKind, at(m.dir.Position), m.field, typeText(&elem), j.Key.Name, j.Target.Name, typeText(j.Key))
		return false
	}
	return true
}
