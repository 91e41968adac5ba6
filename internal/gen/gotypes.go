package gen

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/99designs/gqlgen/codegen/config"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/internal/schema"
)

// checkGoTypes refuses Go types that the configuration gives, under models, to what gets another one, or to nothing.
func (p *project) checkGoTypes(m *schema.Model, shown *ast.Schema) error {
	bound := config.TypeMap{}
	bind(bound, p.module, m)
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(p.goTypes)) {
		switch own, isOurs := bound[name]; {
		case isOurs:
			errs = append(errs, fmt.Errorf("%s: models has %s, whose Go type is not for a project to choose (it is %s): "+
				"take it out", configFile, name, own.Model[0]))
		case shown.Types[name] == nil:
			errs = append(errs, fmt.Errorf("%s: models has %s, and the schema that is served has no type of that name: "+
				"correct the name, or take it out", configFile, name))
		}
	}
	return errors.Join(errs...)
}
