package gen

import (
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/internal/schema"
)

// opaqueFilters is a plugin of gqlgen that has it take each filter as one value, whose parts the runtime reads: plans
// and resolvers then read them alike, and no code is generated for each type. The schema that is served, which gqlgen
// takes over as text, has the types as they are.
type opaqueFilters struct{ model *schema.Model }

// Name names the plugin to gqlgen.
func (opaqueFilters) Name() string { return "foldql-filters" }

// MutateConfig makes scalars of the types of filters, in gqlgen's eyes.
func (p opaqueFilters) MutateConfig(cfg *config.Config) error {
	for _, name := range p.model.FilterTypes() {
		if def := cfg.Schema.Types[name]; def != nil {
			def.Kind, def.Fields = ast.Scalar, nil
		}
	}
	return nil
}
