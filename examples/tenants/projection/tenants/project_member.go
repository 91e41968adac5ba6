package tenants

import (
	"github.com/foldql/foldql/projection"

	"example.com/tenants/event"
	"example.com/tenants/model"
	"example.com/tenants/projection/ops"
)

// ProjectMember keeps who works on which project.
type ProjectMember struct{}

// ProjectJoined adds a member, or gives one another role.
func (ProjectMember) ProjectJoined(e event.ProjectJoined, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.ProjectMember.Set(model.ProjectMember{EmployeeID: e.EmployeeID, ProjectID: e.ProjectID,
		Role: e.Role})}
}

// ProjectLeft removes a member.
func (ProjectMember) ProjectLeft(e event.ProjectLeft, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.ProjectMember.Delete(model.ProjectMemberKey{EmployeeID: e.EmployeeID,
		ProjectID: e.ProjectID})}
}
