package tenants

import (
	"github.com/foldql/foldql/projection"

	"example.com/tenants/event"
	"example.com/tenants/model"
	"example.com/tenants/projection/ops"
)

// Membership keeps which roles users have in organisations.
type Membership struct{}

// RoleGranted adds a role.
func (Membership) RoleGranted(e event.RoleGranted, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Membership.Set(model.Membership{OrgID: e.OrgID, Role: e.Role, UserID: e.UserID})}
}

// RoleRevoked takes a role away.
func (Membership) RoleRevoked(e event.RoleRevoked, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Membership.Delete(model.MembershipKey{OrgID: e.OrgID, Role: e.Role, UserID: e.UserID})}
}

// OrganisationClosed takes all roles in it away: the whole partition.
func (Membership) OrganisationClosed(e event.OrganisationClosed, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Membership.DeletePartition(e.OrgID)}
}
