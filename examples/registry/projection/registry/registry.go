// Package registry folds the events of a package registry.
package registry

import (
	"github.com/foldql/foldql/projection"

	"example.com/registry/projection/ops"
)

// Projections returns every projection of the registry, ready to run.
func Projections() []projection.Projection {
	return []projection.Projection{
		ops.ProjectPackage(Package{}),
		ops.ProjectVersion(Version{}),
		ops.ProjectDependent(Dependent{}),
	}
}
