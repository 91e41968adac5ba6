package readmodel

import (
	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/foldql/foldql/keys"
)

// accessReader reads who may read what.
type accessReader struct{ *draft.Model }

// readOwner reads @owner.
func (d *accessReader) readOwner() {
	for _, m := range d.Marked("owner") {
		pos := sdl.Position(m.Dir.Position)
		switch {
		case d.Owner != nil:
			d.Report(rule.TwoOwners, pos, m.Field, d.Owner.Name)
			continue
		case m.Field.List:
			d.Report(rule.OwnerType, pos, m.Field, "a list")
		case m.Field.Enum != "" || m.Field.Known() && m.Field.Kind() != keys.KindString:
			d.Report(rule.OwnerType, pos, m.Field, schema.TypeText(m.Field))
		}
		d.Owner = m.Field
	}
}

// readAccess reads @auth and the rules of indexes. All models have their keys and owners by now.
func (d *accessReader) readAccess() {
	if dir := d.Def.Directives.ForName("auth"); dir != nil {
		d.Auth = &schema.Auth{Groups: sdl.List(dir, "groups"), Owner: sdl.Flag(dir, "owner")}
		if d.Auth.Owner && d.Owner == nil {
			d.Report(rule.AuthNoOwner, sdl.Position(dir.Position), nil)
		}
	}
	for _, m := range d.Marked("auth") {
		m.Field.Auth = d.AuthOf(m.Field)
		if !m.Field.Nullable {
			d.Report(rule.AuthNullable, sdl.Position(m.Dir.Position), m.Field)
		}
		if m.Field.Auth.Owner && d.Owner == nil {
			d.Report(rule.AuthNoOwner, sdl.Position(m.Dir.Position), m.Field)
		}
	}
	guards := &guardChecker{d.Model}
	for _, x := range d.Indexes {
		d.readIndexAccess(x)
		guards.checkGuarded(x)
		guards.checkOwnerReads(x)
	}
	guards.checkOwnerRange()
}

func (d *accessReader) readIndexAccess(x *schema.Index) {
	group, hasGroup := d.SettingOf(x, "group")
	table, hasTable := d.SettingOf(x, "authTable")
	switch {
	case !hasGroup && hasTable:
		d.Report(rule.GroupMissing, sdl.ArgumentPosition(table.Dir, "authTable"), table.Field, x.As)
		return
	case !hasGroup:
		return
	}
	x.Group, _ = sdl.Text(group.Dir, "group")
	if len(x.PK.Fields) != 1 {
		d.Report(rule.AuthIndexKey, sdl.ArgumentPosition(group.Dir, "group"), group.Field, x.As, x.PK.Describe())
		return
	}
	if key := x.PK.Fields[0]; !hasTable && (key.Enum != "" || key.Known() && key.Kind() != keys.KindString) {
		d.Report(rule.AuthIndexKey, sdl.ArgumentPosition(group.Dir, "group"), group.Field, x.As, schema.TypeText(key))
		return
	}
	if hasTable {
		d.readAuthTable(x, table)
		return
	}
	d.checkOwnerCasing(x, group, "the owner's name", schema.Half{})
}

// checkOwnerCasing holds the partition key of an index with a group against what names its owner: were it in a casing
// of its own, the owner under one value of the key could read the rows of another value that differs in casing.
func (d *accessReader) checkOwnerCasing(x *schema.Index, m draft.Marked, what string, names schema.Half) {
	if c := x.PK.Casing(); c != names.Casing() && c != schema.NoCasing && x.PK.Fields[0].Kind() == keys.KindString {
		d.Report(rule.AuthIndexCase, sdl.ArgumentPosition(m.Dir, "group"), m.Field, x.As, c, what, names.Casing())
	}
}

// readAuthTable finds the model whose row under the key asked for names the owner.
func (d *accessReader) readAuthTable(x *schema.Index, m draft.Marked) {
	pos := sdl.ArgumentPosition(m.Dir, "authTable")
	name, _ := sdl.Text(m.Dir, "authTable")
	table := d.Project.ByTable(name)
	if table == nil {
		if !d.Project.API.Unclear(name) {
			d.Report(rule.AuthTable, pos, m.Field, x.As, name)
		}
		return
	}
	if table.Owner == nil {
		d.Report(rule.AuthTableOwner, pos, m.Field, x.As, name)
	}
	switch {
	case len(schema.Composites(table.PK, table.SK)) != 1:
		d.Report(rule.AuthTableKey, pos, m.Field, x.As, name)
	default:
		key := schema.Composites(table.PK, table.SK)[0]
		if !schema.SameKind(x.PK.Fields[0], key) {
			d.Report(rule.AuthTableKind, pos, m.Field, x.As, schema.TypeText(x.PK.Fields[0]), name, schema.TypeText(key))
		}
		names := table.PK
		if len(names.Fields) == 0 {
			names = table.SK
		}
		d.checkOwnerCasing(x, m, "the key of its authTable "+name, names)
	}
	x.AuthTable = table.ReadModel
}
