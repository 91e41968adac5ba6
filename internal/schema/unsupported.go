package schema

import "errors"

// Unsupported says what of the model the generator does not know yet, nil for nothing.
func (m *Model) Unsupported() error {
	var errs []error
	for _, t := range m.Tables {
		errs = append(errs, Diagnostic{
			Pos: t.Pos, Message: "the entities of table " + t.Name + " are checked, but no code can be generated for them in this version",
			Mend: "give each model a table of its own, with @id and @subId",
		})
	}
	for _, r := range m.ReadModels {
		if len(r.Writers) > 1 {
			errs = append(errs, Diagnostic{
				Pos: r.Pos, Type: r.Name, Message: "has several writers, which are checked, but no code can be generated for them in this version",
				Mend: "keep one annotation, without writes",
			})
		}
	}
	return errors.Join(errs...)
}
