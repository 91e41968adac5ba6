package code

import (
	"fmt"
	"strings"
	"time"

	"github.com/foldql/foldql/internal/schema"
)

// appendType writes the type of what is appended to the rows of a time series.
func (f *rowsFile) appendType(r *schema.ReadModel) {
	name := schema.GoName(r.Name) + "Append"
	f.line("// %s is what an event appends to a row of %s; events are in the order of %s.", name, r.Name,
		r.Series.OrderBy.Name)
	f.structType(name, appended(r))
}

// appended are the fields of the type of what is appended, as its Go struct has them.
func appended(r *schema.ReadModel) []*schema.Field {
	var fields []*schema.Field
	for _, field := range r.Series.History.Fields {
		for _, of := range r.Series.Appended() {
			if of.Name == field.Name {
				fields = append(fields, field)
			}
		}
	}
	return fields
}

// series writes the ops of a time series: those that every model has, and how events are appended.
func (f *opsFile) series(r *schema.ReadModel, key, partition string) {
	s, name, history := r.Series, schema.GoName(r.Name), schema.GoName(r.Series.History.Name)
	f.line("var %s = projection.SeriesOps[model.%s, %s, %s, model.%sAppend, model.%s]{", name, name, key, partition, name,
		history)
	f.line("Ops: projection.Ops[model.%s, %s, %s]{", name, key, partition)
	f.opsFields(r, key, partition)
	f.line("},")
	f.line("History: model.%sCodec,", history)
	for _, field := range s.History.Fields {
		if field.Name == s.OrderBy.Name {
			f.line("OrderBy: %d,\nEventOrderBy: %d,", s.OrderBy.Ordinal, field.Ordinal)
		}
	}
	if s.Keep > 0 {
		f.use("time")
		f.line("Keep: %s,", durationText(s.Keep))
	}
	f.line("Assign: func(p *projection.Patch[model.%s], a model.%sAppend) {", name, name)
	f.assign(r)
	f.line("},")
	f.historyRow(r, key)
	f.line("}\n")
}

// historyRow writes how an event becomes a row of the history.
func (f *opsFile) historyRow(r *schema.ReadModel, key string) {
	s, name, history := r.Series, schema.GoName(r.Name), schema.GoName(r.Series.History.Name)
	k := parameter("k", keyFields(r))
	f.line("Event: func(%s %s, a model.%sAppend) model.%s {", k, key, name, history)
	f.line("var row model.%s", history)
	f.fill(keyFields(r), "row", "k")
	for _, field := range appended(r) {
		f.line("row.%s = a.%s", field.GoName(), field.GoName())
	}
	f.line("return row\n},")
	var hidden []string
	for _, field := range s.History.Fields {
		if field.Hidden && field != s.History.TTL {
			hidden = append(hidden, "row."+field.GoName())
		}
	}
	f.line("SetOrigin: func(row *model.%s, partition string, offset int64) {", history)
	f.line("%s = partition, offset\n},", strings.Join(hidden, ", "))
}

// assign writes how a patch takes what is appended.
func (f *opsFile) assign(r *schema.ReadModel) {
	fields := schema.GoName(r.Name) + "Fields"
	if len(r.Writers) > 1 {
		fields += "." + schema.GoName(r.Series.Writer.Projector)
	}
	f.line("fields := &%s", fields)
	without := "Clear" // and the policy says whether the row leaves the indexes on the field
	if r.Entity == nil {
		without = "Remove"
	}
	for _, field := range appended(r) {
		name, star := field.GoName(), "*"
		if field.List {
			star = ""
		}
		if !field.Nullable {
			f.line("p.Set(fields.%s.Assign(a.%s))", name, name)
			continue
		}
		f.line("if a.%s == nil {\np.%s(fields.%s)\n} else {\np.Set(fields.%s.Assign(%sa.%s))\n}", name, without, name,
			name, star, name)
	}
}

// durationText is the Go expression of a duration.
func durationText(d time.Duration) string {
	if d%time.Hour == 0 {
		return fmt.Sprintf("%d * time.Hour", d/time.Hour)
	}
	return fmt.Sprintf("%d * time.Second", d/time.Second)
}

// newProjection is the beginning of the call that makes a projection of a writer.
func newProjection(r *schema.ReadModel, w *schema.Writer) string {
	name := schema.GoName(r.Name)
	switch {
	case r.Aggregate != nil:
		return "NewAggregate(&" + name
	case r.Series == nil:
		return "New(&" + name
	case w != r.Series.Writer:
		return "New(&" + name + ".Ops"
	}
	return "NewSeries(&" + name
}
