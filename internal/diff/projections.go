package diff

import (
	"github.com/foldql/foldql/internal/gen/code"
	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// projectionsOf are those that the generated code makes of the schema, without what needs it: they fold nothing. They
// have what is compared before rows are built anew: names, tables and whether these are for several models, versions,
// fields with their enums, references, and the keys of indexes.
func projectionsOf(m *schema.Model) []projection.Projection {
	models := map[*schema.ReadModel]*querydb.Model{}
	for _, r := range m.ReadModels {
		models[r] = describe(m, r)
	}
	var all []projection.Projection
	for _, r := range m.ReadModels {
		ops := projection.Ops[none, none, none]{Codec: &querydb.Codec[none]{Model: models[r]}}
		var refs querydb.ReferencesOf[none]
		for _, p := range r.Places() {
			refs = append(refs, querydb.Reference[none]{Path: p.Path, Source: models[p.Reference.Source]})
		}
		ops.Codec.References = refs
		for _, w := range r.Writers {
			named := projection.Projection{Name: w.Projector}
			switch {
			case r.SeriesOf != nil: // whose projector writes it
			case r.Series != nil && w == r.Series.Writer:
				history := &querydb.Codec[none]{Model: models[r.Series.History]}
				series := &projection.SeriesOps[none, none, none, none, none]{Ops: ops, History: history}
				all = append(all, projection.NewSeries(series, named))
			default:
				all = append(all, projection.New(&ops, named))
			}
		}
	}
	return projection.Group(all)
}

// none is a row that nobody has.
type none = struct{}

// describe describes the rows of a model as the generated code does, as far as a start compares them. Index keys are
// compared in models alone that have a RowVersion: these have tables of their own.
func describe(m *schema.Model, r *schema.ReadModel) *querydb.Model {
	d := &querydb.Model{
		Name: r.Name, Table: r.TableName(), Version: code.Version(m, r), RowVersion: code.RowVersion(m, r),
	}
	if r.Entity != nil {
		d.Entity = &querydb.Entity{}
	}
	d.Fields = describeFields(r.Fields)
	for _, e := range m.Enums {
		d.Enums = append(d.Enums, querydb.Enum{Name: e.Name, Values: e.Values})
	}
	if len(r.Writers) > 1 {
		for _, w := range r.Writers {
			d.Writers = append(d.Writers, querydb.Writer{Name: w.Projector})
		}
	}
	if d.RowVersion == "" {
		return d
	}
	for _, x := range r.Indexes {
		index := querydb.Index{Name: x.Name, Unique: x.Unique, PK: describeHalf(x.PK), SK: describeHalf(x.SK)}
		d.Indexes = append(d.Indexes, index)
	}
	return d
}

func describeFields(of []*schema.Field) (all []driver.Field) {
	for _, f := range of {
		d := driver.Field{Name: f.Name, Enum: f.Enum, List: f.List, Nullable: f.HoldsNull()}
		if f.Object == nil {
			d.Scalar = f.Scalar
		} else {
			d.Object = describeFields(f.Object.Fields)
		}
		all = append(all, d)
	}
	return all
}

func describeHalf(h schema.Half) (d querydb.Half) {
	d.Layout = h.Layout
	for _, f := range h.Fields {
		d.Fields = append(d.Fields, f.Ordinal)
	}
	return d
}
