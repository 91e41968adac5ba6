package tenants_test

import (
	"testing"

	"github.com/foldql/foldql/projection/projectiontest"

	"example.com/tenants/model"
	"example.com/tenants/projection/ops"
	"example.com/tenants/projection/tenants"
)

func TestProjectMembersComeAndGo(t *testing.T) {
	projectiontest.Run(t, projectiontest.Spec[model.ProjectMember]{
		Projection: ops.ProjectProjectMember(tenants.ProjectMember{}), Codec: model.ProjectMemberCodec,
		Given: []projectiontest.Event{
			onEmployee("ProjectJoined", "emp-alice", data{"projectId": "proj-alpha", "role": "member"}),
			onEmployee("ProjectJoined", "emp-alice", data{"projectId": "proj-beta", "role": "member"}),
			onEmployee("ProjectJoined", "emp-bob", data{"projectId": "proj-alpha", "role": "member"}),
			onEmployee("ProjectJoined", "emp-alice", data{"projectId": "proj-alpha", "role": "lead"}),
			onEmployee("ProjectLeft", "emp-bob", data{"projectId": "proj-alpha"}),
			onEmployee("ProjectLeft", "emp-bob", data{"projectId": "proj-gamma"}),
		},
		Want: []model.ProjectMember{
			{EmployeeID: "emp-alice", ProjectID: "proj-alpha", Role: "lead", CreatedAt: minute(1), UpdatedAt: minute(4)},
			{EmployeeID: "emp-alice", ProjectID: "proj-beta", Role: "member", CreatedAt: minute(2), UpdatedAt: minute(2)},
		},
	})
}

// TestRolesComeAndGo: one by one, and all of an organisation with it.
func TestRolesComeAndGo(t *testing.T) {
	role := func(kind, org, role, user string) projectiontest.Event {
		return of(kind, data{"orgId": org, "role": role, "userId": user})
	}
	projectiontest.Run(t, projectiontest.Spec[model.Membership]{
		Projection: ops.ProjectMembership(tenants.Membership{}), Codec: model.MembershipCodec,
		Given: []projectiontest.Event{
			role("RoleGranted", "org-acme", "admin", "emp-alice"),
			role("RoleGranted", "org-acme", "member", "emp-alice"),
			role("RoleGranted", "org-acme", "member", "emp-bob"),
			role("RoleGranted", "org-globex", "admin", "emp-dave"),
			role("RoleGranted", "org-globex", "member", "emp-dave"),
			role("RoleRevoked", "org-acme", "member", "emp-alice"),
			of("OrganisationClosed", data{"orgId": "org-globex"}),
			role("RoleGranted", "org-globex", "admin", "emp-bob"),
		},
		Want: []model.Membership{
			{OrgID: "org-acme", Role: "admin", UserID: "emp-alice", CreatedAt: minute(1), UpdatedAt: minute(1)},
			{OrgID: "org-acme", Role: "member", UserID: "emp-bob", CreatedAt: minute(3), UpdatedAt: minute(3)},
			{OrgID: "org-globex", Role: "admin", UserID: "emp-bob", CreatedAt: minute(8), UpdatedAt: minute(8)},
		},
	})
}
