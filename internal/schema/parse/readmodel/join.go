package readmodel

import (
	"slices"
	"strconv"
	"strings"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
)

// joinReader reads the virtual fields of a read model.
type joinReader struct{ *draft.Model }

// readJoins reads @resolves and @resolvesMany.
func (d *joinReader) readJoins() {
	for _, f := range d.Fields {
		for _, dir := range d.Sources[f].Directives {
			if dir.Name == "resolves" || dir.Name == "resolvesMany" {
				d.readJoin(draft.Marked{Field: f, Dir: dir})
			}
		}
	}
}

func (d *joinReader) readJoin(m draft.Marked) {
	pos := sdl.Position(m.Dir.Position)
	many := m.Dir.Name == "resolvesMany"
	if m.Field.List && !many {
		d.Report(rule.JoinList, pos, m.Field)
	}
	name, _ := sdl.Text(m.Dir, "field")
	free := d.checkJoinName(m, name)
	target := d.joinTarget(m)
	if target == nil {
		return
	}
	j := &schema.Join{
		Name: name, Source: m.Field, Target: target.ReadModel, Many: many && m.Field.List, Paged: many && !m.Field.List,
		Auth: d.AuthOf(m.Field), Pos: pos,
	}
	if !d.joinKey(m, j) || !free {
		return
	}
	d.Joins = append(d.Joins, j)
	switch {
	case j.Paged: // the rows are asked for page by page
	case j.Via != nil:
		d.Report(rule.JoinCosts, pos, m.Field, target.Name, "by its index "+j.Via.As)
		if !j.Via.Unique && len(j.Via.SK.Fields) == 0 {
			d.Report(rule.JoinFirst, pos, m.Field, target.Name, j.Via.As)
		}
	case len(target.SK.Fields) > 0 && target.Entity == nil && len(j.Keys) < len(schema.Composites(target.PK, target.SK)):
		d.Report(rule.JoinCosts, pos, m.Field, target.Name, "though it has a sort key")
	}
}

// checkJoinName reports whether a virtual field can have the name, and why not.
func (d *joinReader) checkJoinName(m draft.Marked, name string) (free bool) {
	taken := d.Field(name) != nil || slices.ContainsFunc(d.Joins, func(j *schema.Join) bool { return j.Name == name })
	switch {
	case !draft.NamePattern.MatchString(name):
		d.Report(rule.JoinName, sdl.ArgumentPosition(m.Dir, "field"), m.Field, "\""+name+"\"")
	case taken:
		d.Report(rule.JoinTaken, sdl.ArgumentPosition(m.Dir, "field"), m.Field, name)
	default:
		return true
	}
	return false
}

// joinTarget finds the model that a join names, nil where it reported that there is none.
func (d *joinReader) joinTarget(m draft.Marked) *draft.Model {
	table, _ := sdl.Text(m.Dir, "table")
	target := d.Project.ByTable(table)
	if target == nil {
		if d.Project.API.Unclear(table) {
			return nil
		}
		d.Report(rule.JoinUnknown, sdl.ArgumentPosition(m.Dir, "table"), m.Field, table,
			strings.Join(d.Project.Tables(), ", "), sdl.Suggest(table, d.Project.Tables()))
		return nil
	}
	plugin, given := sdl.Text(m.Dir, "plugin")
	if given && plugin != target.Plugin {
		is := "it has none"
		if target.Plugin != "" {
			is = "it is of plugin " + target.Plugin
		}
		d.Report(rule.JoinPlugin, sdl.ArgumentPosition(m.Dir, "plugin"), m.Field, table, plugin, is)
		return nil
	}
	return target
}

// joinKey finds what the join looks ids up in, and holds the id against it.
func (d *joinReader) joinKey(m draft.Marked, j *schema.Join) bool {
	pk, sk, by := j.Target.PK, j.Target.SK, "its primary key"
	if via, given := sdl.Text(m.Dir, "via"); given {
		if j.Via = j.Target.IndexNamed(via); j.Via == nil {
			d.reportNoIndex(m, j, via)
			return false
		}
		pk, sk, by = j.Via.PK, j.Via.SK, "its index "+via
		if j.Many {
			d.Report(rule.JoinListVia, sdl.ArgumentPosition(m.Dir, "via"), m.Field, j.Target.Name, via)
			return false
		}
	}
	if j.Paged && !d.hasPages(m, j, pk, sk, by) {
		return false
	}
	if m.Dir.Arguments.ForName("by") != nil && len(schema.Composites(pk, sk)) > 0 {
		return d.keyBy(m, j, sdl.List(m.Dir, "by"), pk, sk)
	}
	fields := pk.Fields
	if !j.Paged && (len(fields) == 0 || j.Target.Entity != nil && j.Via == nil) {
		fields = schema.Composites(pk, sk) // an entity is looked up by its whole key, and all may be in one partition
	}
	switch {
	case len(fields) == 0:
		d.Report(rule.JoinSingleton, sdl.ArgumentPosition(m.Dir, "table"), m.Field, j.Target.Name)
		return false
	case len(fields) > 1 && j.Target.Entity != nil:
		d.Report(rule.JoinEntity, sdl.Position(m.Dir.Position), m.Field, j.Target.Name, by,
			schema.Half{Fields: fields}.Describe(), byOrVia(j, fields))
		return false
	case d.isByText(m, j):
		d.checkText(m, j)
		j.By, j.Keys = []*schema.Field{m.Field}, pk.Fields
		return true
	case len(fields) > 1:
		d.Report(rule.JoinComposite, sdl.Position(m.Dir.Position), m.Field, j.Target.Name, by,
			byOrVia(j, fields))
		return false
	}
	j.By, j.Keys = []*schema.Field{m.Field}, fields
	return d.sameKinds(m, j)
}

// reportNoIndex reports that the target of a join has no index of the name, and which it has.
func (d *joinReader) reportNoIndex(m draft.Marked, j *schema.Join, via string) {
	var names []string
	for _, x := range j.Target.Indexes {
		names = append(names, x.As)
	}
	fix := ""
	if len(names) > 0 {
		fix = "name one of its indexes: " + strings.Join(names, ", ") + "; or "
	}
	d.Report(rule.JoinVia, sdl.ArgumentPosition(m.Dir, "via"), m.Field, j.Target.Name, via, fix, sdl.Suggest(via, names))
}

// isByText reports whether the field holds the key of its target as TById takes it: as the text of a partition half of
// several fields.
func (d *joinReader) isByText(m draft.Marked, j *schema.Join) bool {
	isText := m.Field.Scalar == "ID" || m.Field.Scalar == "String"
	return isText && m.Dir.Arguments.ForName("by") == nil && j.Via == nil && j.Target.Entity == nil &&
		len(j.Target.PK.Fields) > 1
}

// checkText warns where the field that is to hold the text of a key has the name of one part of it: it holds that part,
// most likely, which leads to no row.
func (d *joinReader) checkText(m draft.Marked, j *schema.Join) {
	key := j.Target.PK.Fields
	if !slices.Contains(schema.FieldNames(key), m.Field.Name) {
		return
	}
	fix := "name all fields of the key: by; or join by an index on " + m.Field.Name +
		": via; or call the field otherwise if it holds that text"
	if j.Many { // a list has neither by nor via
		fix = "hold the text of the key in its elements (PK of what model.KeyOf" + j.Target.Name +
			" returns), and call the field otherwise"
	}
	d.Report(rule.JoinPart, sdl.Position(m.Dir.Position), m.Field, j.Target.Name,
		strings.Join(schema.FieldNames(key), ", "), fix)
}

// byOrVia says how to join to a key of several fields.
func byOrVia(j *schema.Join, key []*schema.Field) string {
	switch {
	case j.Many && j.Target.Entity == nil:
		return "make it a list of ID, whose elements are the text of the key: what " + j.Target.QueryName("") + "(id:) takes"
	case j.Many:
		return "join models whose key is one field: an element of a list is one value"
	}
	return "name the fields that hold " + strings.Join(schema.FieldNames(key), ", ") +
		": by; or join by an index on one field: via"
}

// keyBy takes the fields that hold a key together: that of a partition, whose rows are many, or a whole one.
func (d *joinReader) keyBy(m draft.Marked, j *schema.Join, names []string, pk, sk schema.Half) bool {
	pos := sdl.ArgumentPosition(m.Dir, "by")
	for _, name := range names {
		f, why := d.Field(name), ""
		switch {
		case f == nil:
			why = "which is no field of the type"
		case f.List || f.Object != nil:
			why = "which is not one value"
		case !d.AuthOf(f).AtLeast(j.Auth) || !j.Auth.AtLeast(d.AuthOf(f)):
			d.Report(rule.JoinByGuard, pos, m.Field, name)
			return false
		}
		if why != "" {
			d.Report(rule.JoinBy, pos, m.Field, name, why)
			return false
		}
		j.By = append(j.By, f)
	}
	if !slices.Contains(j.By, m.Field) {
		d.Report(rule.JoinBy, pos, m.Field, strings.Join(names, ", "), "without this one")
		return false
	}
	if j.Paged {
		sk = schema.Half{} // which the pages are in the order of
	}
	whole := schema.Composites(pk, sk)
	inParts := len(pk.Fields) > 0 && (j.Target.Entity == nil || j.Via != nil) // an entity is looked up by its whole key
	switch wanted := strings.Join(schema.FieldNames(whole), ", "); {
	case len(j.By) == len(whole):
		j.Keys = whole
	case inParts && len(j.By) == len(pk.Fields):
		j.Keys = pk.Fields
	default:
		if inParts && len(pk.Fields) < len(whole) {
			wanted += ", or the first " + strconv.Itoa(len(pk.Fields)) + " of them"
		}
		d.Report(rule.JoinByCount, pos, m.Field, j.Target.Name, strings.Join(names, ", "), wanted)
		return false
	}
	return d.sameKinds(m, j)
}

// rowParameter is what gqlgen calls the row in the resolver of a field: no argument of the field can be called so.
const rowParameter = "obj"

// hasPages reports whether the rows of a target can be asked for page by page under one value.
func (d *joinReader) hasPages(m draft.Marked, j *schema.Join, pk, sk schema.Half, by string) bool {
	q, paged := j.Pages()
	reason := ""
	switch {
	case slices.Contains(q.Args, rowParameter):
		reason = "takes an argument " + rowParameter + ", as the code of gqlgen calls something else"
	case paged && len(pk.Fields) > 1 && j.Via == nil && j.Target.Entity == nil && len(q.PKParts) == 0 && !d.isByText(m, j):
		reason = "takes that as one text, as a field of it has the name of another argument"
	case paged && len(pk.Fields) > 0, len(schema.Composites(pk, sk)) == 0: // the latter has no key at all
		return true
	case len(pk.Fields) == 0:
		reason = "has all rows in one partition"
	case j.Target.Series != nil && j.Via == nil && len(j.Target.SK.Fields) > 0:
		reason = "has the histories of rows among them"
	default:
		reason = "has one row for each key"
	}
	d.Report(rule.JoinPages, sdl.Position(m.Dir.Position), m.Field, j.Target.Name, by, reason)
	return false
}

// sameKinds holds the fields that a join looks its values up by against those that hold them.
func (d *joinReader) sameKinds(m draft.Marked, j *schema.Join) bool {
	for i, key := range j.Keys {
		if f := j.By[i]; !schema.SameKind(f, key) {
			elem := *f
			elem.List = false
			d.Report(rule.JoinKind, sdl.Position(m.Dir.Position), f, schema.TypeText(&elem), key.Name, j.Target.Name,
				schema.TypeText(key))
			return false
		}
	}
	return true
}
