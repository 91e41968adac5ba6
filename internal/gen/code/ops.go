package code

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/foldql/foldql/internal/gen/served"
	"github.com/foldql/foldql/internal/schema"
)

// opsFile writes the ops and projectors of models.
type opsFile struct{ *File }

// Ops writes, for each model, the ops that projectors return.
func Ops(m *schema.Model, module string) *File {
	f := &opsFile{&File{pkg: "ops", doc: "Package ops holds the typed ops of each read model, and the interface of its " +
		"projector.\n"}}
	f.lib("keys")
	f.lib("projection")
	f.use(module + "/model")
	for _, r := range m.ReadModels {
		if r.SeriesOf == nil {
			f.ops(r)
		}
		if r.SeriesOf == nil && r.Aggregate == nil {
			f.patchFields(r)
		}
	}
	return f.File
}

func (f *opsFile) ops(r *schema.ReadModel) {
	name := schema.GoName(r.Name)
	key, partition := keyTypeOf(r, keyFields(r), "Key"), keyTypeOf(r, r.PK.Fields, "Partition")
	for _, fields := range [][]*schema.Field{keyFields(r), r.PK.Fields} {
		if len(fields) == 1 { // several have a type of package model
			f.needs(fields[0])
		}
	}
	if len(r.PK.Fields) == 0 {
		f.lib("querydb")
	}
	f.line("// %s makes the ops of %s.", name, r.Name)
	switch {
	case r.Series != nil:
		f.series(r, key, partition)
		return
	case r.Aggregate != nil:
		f.line("var %s = projection.AggregateOps[model.%s, %s]{", name, name, key)
		f.line("Codec: model.%sCodec,", name)
		f.keyFuncs(r, key, "")
		f.line("}\n")
		return
	}
	f.line("var %s = projection.Ops[model.%s, %s, %s]{", name, name, key, partition)
	f.opsFields(r, key, partition)
	f.line("}\n")
}

// opsFields writes the fields of a value of Ops.
func (f *opsFile) opsFields(r *schema.ReadModel, key, partition string) {
	name := schema.GoName(r.Name)
	f.line("Codec: model.%sCodec,", name)
	if len(keyFields(r)) == 0 && r.Entity == nil {
		f.line("Key: func(querydb.SingletonKey) (keys.Key, error) { return keys.Key{PK: keys.SingletonPK}, nil },")
		f.line("Partition: func(querydb.SingletonKey) (string, error) { return keys.SingletonPK, nil },")
		f.line("SetKeyFields: func(*model.%s, querydb.SingletonKey) {},", name)
		return
	}
	f.keyFuncs(r, key, partition)
}

// keyFuncs writes how keys are composed, and how rows get them. An aggregate has a partition to itself, "".
func (f *opsFile) keyFuncs(r *schema.ReadModel, key, partition string) {
	name := schema.GoName(r.Name)
	f.line("Key: func(%s %s) (keys.Key, error) {\nvar row model.%s", parameter("k", keyFields(r)), key, name)
	f.fill(keyFields(r), "row", "k")
	f.line("return model.KeyOf%s(&row)\n},", name)
	if partition != "" {
		f.line("Partition: func(%s %s) (string, error) {", parameter("p", r.PK.Fields), partition)
		f.line("return model.%sModel.PK.Layout.Compose(%s)\n},", name, partitionValues(r))
	}
	f.line("SetKeyFields: func(%s *model.%s, %s %s) {", parameter("row", keyFields(r)), name,
		parameter("k", keyFields(r)), key)
	f.fill(keyFields(r), "row", "k")
	f.line("},")
}

// parameter is the name of a parameter that has something of the fields, and of one that has nothing to do.
func parameter(name string, fields []*schema.Field) string {
	if len(fields) == 0 {
		return "_"
	}
	return name
}

// fill assigns the fields of a key to a row.
func (f *opsFile) fill(fields []*schema.Field, row, key string) {
	if len(fields) == 1 {
		f.line("%s.%s = %s", row, fields[0].GoName(), key)
		return
	}
	for _, field := range fields {
		f.line("%s.%s = %s.%s", row, field.GoName(), key, field.GoName())
	}
}

// partitionValues are the values that a partition key p is composed of.
func partitionValues(r *schema.ReadModel) string {
	if len(r.PK.Fields) == 1 {
		return valueOf(r.PK.Fields[0], "p")
	}
	values := make([]string, len(r.PK.Fields))
	for i, field := range r.PK.Fields {
		values[i] = valueOf(field, "p."+field.GoName())
	}
	return strings.Join(values, ", ")
}

// patchFields writes the fields that a patch can name: all that are not part of the key, nor copies. Where a row has
// several writers, each has its own.
func (f *opsFile) patchFields(r *schema.ReadModel) {
	name := schema.GoName(r.Name)
	f.line("// %sFields are the fields that a patch of %s can name%s.", name, r.Name,
		map[bool]string{true: ", by its writers"}[len(r.Writers) > 1])
	if len(r.Writers) < 2 {
		key := keyFields(r)
		rest := slices.DeleteFunc(slices.Clone(r.Fields), func(field *schema.Field) bool {
			return slices.Contains(key, field) || field.IsCopy()
		})
		declared, values := f.patchStruct(r, rest)
		f.line("var %sFields = %s%s\n", name, declared, values)
		return
	}
	var declared, values strings.Builder
	for _, w := range r.Writers {
		d, v := f.patchStruct(r, w.Writes)
		fmt.Fprintf(&declared, "%s %s\n", schema.GoName(w.Projector), d)
		fmt.Fprintf(&values, "%s: %s%s,\n", schema.GoName(w.Projector), d, v)
	}
	f.line("var %sFields = struct {\n%s}{\n%s}\n", name, declared.String(), values.String())
}

// patchStruct is the type of a struct of fields that a patch can name, and its value.
func (f *opsFile) patchStruct(r *schema.ReadModel, fields []*schema.Field) (typ, value string) {
	name := schema.GoName(r.Name)
	var declared, values strings.Builder
	for _, field := range fields {
		f.needs(field)
		goName := field.GoName()
		typ := fmt.Sprintf("projection.PatchField[model.%s, %s]", name, patchType(field))
		fmt.Fprintf(&declared, "%s *%s\n", goName, typ)
		amp, reset := "", ""
		if field.Nullable {
			reset = fmt.Sprintf("Reset: func(row *model.%s) { row.%s = nil },\n", name, goName)
			if !field.List {
				amp = "&"
			}
		}
		fmt.Fprintf(&values, "%s: &%s{\nOrdinal: %d,\nWrite: func(row *model.%s, v %s) { row.%s = %sv },\n%s},\n",
			goName, typ, field.Ordinal, name, patchType(field), goName, amp, reset)
	}
	return "struct {\n" + declared.String() + "}", "{\n" + values.String() + "}"
}

// patchType is the type of the values of a field, which are never null.
func patchType(field *schema.Field) string {
	return strings.TrimPrefix(goTypeOf(field, "model."), "*")
}

// Projectors writes the interface of each projector, and how one becomes a projection.
func Projectors(m *schema.Model, module string) *File {
	f := &opsFile{&File{pkg: "ops"}}
	f.use("fmt")
	f.lib("eventlog")
	f.lib("projection")
	f.use(module + "/event")
	for _, r := range m.ReadModels {
		for _, w := range r.Writers {
			if r.SeriesOf == nil {
				f.projector(m, r, w)
			}
		}
	}
	f.line("// foreign is the error of an event that the projection does not take.")
	f.line("func foreign(projector string, e *eventlog.Event) ([]projection.Op, error) {")
	f.line("return nil, fmt.Errorf(%q, projector, e.Type)\n}", "projector %s does not take events of type %s")
	return f.File
}

func (f *opsFile) projector(m *schema.Model, r *schema.ReadModel, w *schema.Writer) {
	name := schema.GoName(r.Name)
	f.line("// %s", projectorComment(r, w))
	if len(r.Writers) > 1 {
		name = schema.GoName(w.Projector)
	}
	f.line("// Methods are pure: they know the event and nothing else.")
	f.line("type %sProjector interface {", name)
	for _, e := range w.Events {
		f.line("%s(e event.%s, m projection.Meta) []projection.Op", schema.GoName(e), schema.GoName(e))
	}
	f.line("}\n")
	if takesVersioned(m, w) {
		f.line("// Project%s makes the projection %s of its projector, and of the upcasters of its events.",
			name, w.Projector)
		f.line("func Project%s(p %sProjector, u event.Upcasters) projection.Projection {", name, name)
	} else {
		f.line("// Project%s makes the projection %s of its projector.", name, w.Projector)
		f.line("func Project%s(p %sProjector) projection.Projection {", name, name)
	}
	f.line("return projection.%s, projection.Projection{", newProjection(r, w))
	f.line("Name: %q,\nEvents: %s,", w.Projector, goStrings(eventNames(m, w)))
	if takesVersioned(m, w) {
		f.versions(m, w)
	}
	if w.Stream != "" {
		f.line("EventSource: %q,", w.Stream)
	}
	if takesVersioned(m, w) {
		f.line("Code: []any{p, u},")
	} else {
		f.line("Code: []any{p},")
	}
	if len(w.Tags) > 0 {
		f.line("Tags: %s,", goStrings(w.Tags))
		f.tagsOf(m, w)
	}
	f.line("Project: func(e *eventlog.Event, m projection.Meta) ([]projection.Op, error) {\nswitch e.Type {")
	for _, e := range w.Events {
		f.takenEvent(m.EventNamed(e))
		f.line("return p.%s(data, m), nil", schema.GoName(e))
	}
	f.line("}\nreturn foreign(%q, e)\n},\n})\n}\n", w.Projector)
}

// takenEvent writes how an event is decoded. Projectors know it by its present name.
func (f *opsFile) takenEvent(t *schema.EventType) {
	f.line("case %s:", caseNames(t))
	if len(t.Was) > 0 {
		f.line("m.Type = %q", t.Name)
	}
	read := "Decode%s(e.Data)"
	if t.Version > 1 {
		read = "Upcast%s(e, u)"
	}
	f.line("data, err := event."+read+"\nif err != nil {\nreturn nil, err\n}", schema.GoName(t.Name))
}

// caseNames are the names of an event, for a case of a switch.
func caseNames(t *schema.EventType) string {
	names := make([]string, len(t.Names()))
	for i, name := range t.Names() {
		names[i] = strconv.Quote(name)
	}
	return strings.Join(names, ", ")
}

// eventNames are the names under which a log has the events of a projector.
func eventNames(m *schema.Model, w *schema.Writer) (names []string) {
	for _, e := range w.Events {
		names = append(names, m.EventNamed(e).Names()...)
	}
	return names
}

func projectorComment(r *schema.ReadModel, w *schema.Writer) string {
	if len(r.Writers) == 1 {
		return fmt.Sprintf("%sProjector folds events into rows of %s: one method for each event that the schema names.",
			schema.GoName(r.Name), r.Name)
	}
	fields := "their key"
	if len(w.Writes) > 0 {
		fields = served.Listed(w.Writes)
	}
	return fmt.Sprintf("%sProjector folds events into what it writes of rows of %s, %s: one method for each event that "+
		"the schema names.",
		schema.GoName(w.Projector), r.Name, fields)
}
