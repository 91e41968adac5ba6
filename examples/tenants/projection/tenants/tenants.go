// Package tenants folds what happens in companies that plan their projects.
package tenants

import (
	"github.com/foldql/foldql/projection"

	"example.com/tenants/projection/ops"
)

// Projections returns every projection of the project, ready to run.
func Projections() []projection.Projection {
	return []projection.Projection{
		ops.ProjectEmployee(Employee{}),
		ops.ProjectTask(Task{}),
		ops.ProjectEquipment(Equipment{}),
		ops.ProjectProjectMember(ProjectMember{}),
		ops.ProjectMembership(Membership{}),
	}
}
