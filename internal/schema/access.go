package schema

import "github.com/foldql/foldql/keys"

// accessReader reads who may read what.
type accessReader struct{ *ModelDraft }

// readOwner reads @owner.
func (d *accessReader) readOwner() {
	for _, m := range d.marked("owner") {
		pos := at(m.dir.Position)
		switch {
		case d.Owner != nil:
			d.report(twoOwners, pos, m.field, d.Owner.Name)
			continue
		case m.field.List:
			d.report(ownerType, pos, m.field, "a list")
		case m.field.Enum != "" || m.field.Scalar != "" && m.field.Kind() != keys.KindString:
			d.report(ownerType, pos, m.field, typeText(m.field))
		}
		d.Owner = m.field
	}
}

// readAccess reads @auth and the rules of indexes. All models have their keys and owners by now.
func (d *accessReader) readAccess() {
	if dir := d.def.Directives.ForName("auth"); dir != nil {
		d.Auth = &Auth{Groups: listOf(dir, "groups"), Owner: flagOf(dir, "owner")}
		if d.Auth.Owner && d.Owner == nil {
			d.report(authNoOwner, at(dir.Position), nil)
		}
	}
	for _, m := range d.marked("auth") {
		m.field.Auth = d.authOf(m.field)
		if !m.field.Nullable {
			d.report(authNullable, at(m.dir.Position), m.field)
		}
		if m.field.Auth.Owner && d.Owner == nil {
			d.report(authNoOwner, at(m.dir.Position), m.field)
		}
	}
	guards := &guardChecker{d.ModelDraft}
	for _, x := range d.Indexes {
		d.readIndexAccess(x)
		guards.checkGuarded(x)
		guards.checkOwnerReads(x)
	}
	guards.checkOwnerRange()
}

func (d *accessReader) readIndexAccess(x *Index) {
	group, hasGroup := d.settingOf(x, "group")
	table, hasTable := d.settingOf(x, "authTable")
	switch {
	case !hasGroup && hasTable:
		d.report(groupMissing, argumentPos(table.dir, "authTable"), table.field, x.As)
		return
	case !hasGroup:
		return
	}
	x.Group, _ = textOf(group.dir, "group")
	if len(x.PK.Fields) != 1 {
		d.report(authIndexKey, argumentPos(group.dir, "group"), group.field, x.As, x.PK.describe())
		return
	}
	if key := x.PK.Fields[0]; !hasTable && (key.Enum != "" || key.Scalar != "" && key.Kind() != keys.KindString) {
		d.report(authIndexKey, argumentPos(group.dir, "group"), group.field, x.As, typeText(key))
		return
	}
	if hasTable {
		d.readAuthTable(x, table)
		return
	}
	d.checkOwnerCasing(x, group, "the owner's name", Half{})
}

// checkOwnerCasing holds the partition key of an index with a group against what names its owner: were it in a casing of its
// own, the owner under one value of the key could read the rows of another value that differs in casing.
func (d *accessReader) checkOwnerCasing(x *Index, m marked, what string, names Half) {
	if c := x.PK.Casing(); c != names.Casing() && c != noCasing && x.PK.Fields[0].Kind() == keys.KindString {
		d.report(authIndexCase, argumentPos(m.dir, "group"), m.field, x.As, c, what, names.Casing())
	}
}

// readAuthTable finds the model whose row under the key asked for names the owner.
func (d *accessReader) readAuthTable(x *Index, m marked) {
	pos := argumentPos(m.dir, "authTable")
	name, _ := textOf(m.dir, "authTable")
	table := d.project.byTable(name)
	if table == nil {
		d.report(authTable, pos, m.field, x.As, name)
		return
	}
	if table.Owner == nil {
		d.report(authTableOwner, pos, m.field, x.As, name)
	}
	switch {
	case len(composites(table.PK, table.SK)) != 1:
		d.report(authTableKey, pos, m.field, x.As, name)
	default:
		key := composites(table.PK, table.SK)[0]
		if !sameKind(x.PK.Fields[0], key) {
			d.report(authTableKind, pos, m.field, x.As, typeText(x.PK.Fields[0]), name, typeText(key))
		}
		names := table.PK
		if len(names.Fields) == 0 {
			names = table.SK
		}
		d.checkOwnerCasing(x, m, "the key of its authTable "+name, names)
	}
	x.AuthTable = table.ReadModel
}
