package naming

import (
	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
)

// takeFilterNames takes the names of the input types of filters.
func (l *queryNames) takeFilterNames(makers map[string]string) {
	conditions := map[string]*schema.Field{} // by the types of conditions
	for _, d := range l.ReadModels {
		if !schema.HasFilter(d.ReadModel) {
			continue
		}
		filters := schema.FilterFields(d.ReadModel)
		l.takeFilterName(d, filters[0], schema.FilterType(d.Name), "the filters of "+d.Name, makers)
		for _, f := range filters {
			name := f.ConditionType()
			switch same := conditions[name]; {
			case same == nil:
				conditions[name] = f
				l.takeFilterName(d, f, name, "conditions on "+schema.TypeText(f), makers)
			case schema.TypeText(same) != schema.TypeText(f): // a list of X, and an enum called XList
				d.Report(rule.FilterTaken, f.Pos, f, "the type "+name+" of conditions on "+schema.TypeText(same),
					"conditions on "+schema.TypeText(f))
			}
		}
	}
}

// takeFilterName takes the name of one of them, which a field makes.
func (l *queryNames) takeFilterName(d *draft.Model, f *schema.Field, name, of string, makers map[string]string) {
	if def := l.API.Named[name]; def != nil {
		d.Report(rule.FilterTaken, f.Pos, f, "the type "+name+" at "+sdl.Position(def.Position).String(), of)
		return
	}
	if other, taken := makers["type "+name]; taken {
		d.Report(rule.FilterTaken, f.Pos, f, "the type "+name+" that "+other+" makes", of)
		return
	}
	makers["type "+name] = "@filterable of type " + d.Name
}
