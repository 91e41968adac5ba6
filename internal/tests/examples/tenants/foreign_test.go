package tenants

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// foreign are items as a program of the guide writes them: with its time stamps and its count of versions, and nothing
// of this system. Those of types that this system does not know are among them.
func foreign() []item {
	const employee, task = "$myapp#v1#employee", "$myapp#v1#task"
	const members, contributions, staff = "$myapp#v1#tenantmembers", "$myapp#v1#contributions", "$myapp#v1#departmentstaff"
	list := []item{
		{
			"pk": employee + "#employeeid_emp-alice", "sk": employee,
			"gsi1pk": members + "#tenantid_t-acme", "gsi1sk": members + "#employee_1#department_engineering#hiredate_2024-01-15",
			"gsi2pk": employee + "#email_alice@acme.example", "gsi2sk": employee,
			"gsi3pk": contributions + "#employeeid_emp-alice", "gsi3sk": contributions + "#employee_1#department_engineering",
			"gsi4pk": staff + "#department_engineering", "gsi4sk": "$myapp#v1#employee_1#hiredate_2024-01-15",
			"__edd_e__": "Employee", "employeeId": "Emp-Alice", "tenantId": "T-Acme", "email": "Alice@Acme.example",
			"name":       "Alice",
			"department": "Engineering", "hireDate": "2024-01-15",
		},
		{
			"pk": task + "#taskid_t-001", "sk": task,
			"gsi1pk": members + "#tenantid_t-acme", "gsi1sk": members + "#task_1#projectid_p-α#taskid_t-001",
			"gsi2pk": task + "#employeeid_emp-alice", "gsi2sk": task + "#priority_0000000000000003",
			"gsi3pk": contributions + "#employeeid_emp-alice", "gsi3sk": contributions +
				"#assignments#task_1#projectid_p-α#taskid_t-001",
			"__edd_e__": "Task", "taskId": "t-001", "tenantId": "T-Acme", "projectId": "p-α", "employeeId": "Emp-Alice",
			"title": "Lay the foundation", "priority": "3", "status": "open",
		},
		{ // of nobody: it is in no index of assignees
			"pk": task + "#taskid_t-002", "sk": task,
			"gsi1pk": members + "#tenantid_t-acme", "gsi1sk": members + "#task_1#projectid_p-α#taskid_t-002",
			"__edd_e__": "Task", "taskId": "t-002", "tenantId": "t-acme", "projectId": "p-α", "title": "Raise the walls",
			"priority": "1", "status": "open",
		},
		{
			"pk": "$myapp#v1#projectmember#employeeid_emp-alice#projectid_p-α", "sk": "$myapp#v1#projectmember",
			"gsi3pk": contributions + "#employeeid_emp-alice", "gsi3sk": contributions +
				"#assignments#projectmember_1#projectid_p-α",
			"__edd_e__": "ProjectMember", "employeeId": "Emp-Alice", "projectId": "p-α", "role": "lead",
		},
		{
			"pk": "$myapp#v1#equipment#equipmentid_eq-001", "sk": "$myapp#v1#equipment",
			"gsi4pk": staff + "#department_engineering", "gsi4sk": "$myapp#v1#equipment_1#purchasedate_2023-06-01",
			"__edd_e__": "Equipment", "equipmentId": "eq-001", "department": "engineering", "name": "Oscilloscope",
			"purchaseDate": "2023-06-01",
		},
		{
			"pk": "$myapp#v1#membership#orgid_org-acme", "sk": "$myapp#v1#membership#role_admin#userid_emp-alice",
			"__edd_e__": "Membership", "orgId": "org-acme", "role": "admin", "userId": "emp-alice",
		},
		{
			"pk": "$myapp#v1#membership#orgid_org-acme", "sk": "$myapp#v1#membership#role_member#userid_emp-bob",
			"__edd_e__": "Membership", "orgId": "org-acme", "role": "member", "userId": "emp-bob",
		},
		{
			"pk": "$myapp#v1#membership#orgid_org-acme", "sk": "$myapp#v1#invoice#number_0000000000000001",
			"gsi1pk": members + "#tenantid_t-acme", "gsi1sk": members + "#invoice_1#number_0000000000000001",
			"gsi4pk": staff + "#department_engineering", "gsi4sk": "$myapp#v1#invoice_1",
			"__edd_e__": "Invoice", "number": "1",
		},
	}
	for _, it := range list {
		it["createdAt"], it["updatedAt"], it["version"] = "2024-01-10T08:00:00.000Z", "2024-01-11T00:00:00.000Z", "2"
	}
	return list
}

// TestItemsOfOtherProgramsAreRows: by their keys, in every index and in every collection.
func TestItemsOfOtherProgramsAreRows(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *site) {
		for _, it := range foreign() {
			s.put(t, it)
		}
		const alice = `{"__typename":"Employee","employeeId":"Emp-Alice"}`
		const walls, foundation = `{"__typename":"Task","taskId":"t-002"}`, `{"__typename":"Task","taskId":"t-001"}`
		const lead = `{"__typename":"ProjectMember","projectId":"p-α"}`
		for query, want := range map[string]string{
			`Employee(employeeId: "emp-alice") { employeeId tenantId email name department hireDate ` +
				`createdAt updatedAt }`: `{"employeeId":"Emp-Alice","tenantId":"T-Acme",` +
				`"email":"Alice@Acme.example","name":"Alice","department":"Engineering","hireDate":"2024-01-15",` +
				`"createdAt":"2024-01-10T08:00:00.000Z","updatedAt":"2024-01-11T00:00:00.000Z"}`,
			`Task(taskId: "t-001") { priority status ` +
				`assignee { name } }`: `{"priority":3,"status":"open","assignee":{"name":"Alice"}}`,
			`ProjectMember(employeeId: "emp-alice", projectId: "p-α") { role }`: `{"role":"lead"}`,
			`EmployeeByEmail(email: "alice@acme.example") { items { name } }`:   `{"items":[{"name":"Alice"}]}`,
			`TaskByAssignee(employeeId: "emp-alice") { ` +
				`items { title } }`: `{"items":[{"title":"Lay the foundation"}]}`,
			`TaskByAssignee(employeeId: "emp-alice", to: 2) { items { title } }`: `{"items":[]}`,
			`MembershipByPrimary(orgId: "org-acme") { items { ` +
				`role userId } }`: `{"items":[{"role":"admin","userId":"emp-alice"},{"role":"member","userId":"emp-bob"}]}`,
			`MembershipByPrimary(orgId: "org-acme", role: "admin") { items { userId } }`: `{"items":[{"userId":"emp-alice"}]}`,
			`TenantMembers(tenantId: "t-acme") {
				items { __typename ... on Employee { employeeId } ... on Task { taskId } } nextToken }`: `{"items":[` + alice + `,` + foundation + `,` + walls + `],"nextToken":null}`,
			`TenantMembers(tenantId: "t-acme", only: [Task], limit: 2) {
				items { __typename ... on Task { taskId } } nextToken }`: `{"items":[` + foundation + `,` + walls + `],"nextToken":null}`,
			`Contributions(employeeId: "emp-alice") {
				items { __typename ... on Employee { employeeId } ... on Task { taskId } ... on ProjectMember { projectId } } }`: `{"items":[` + lead + `,` + foundation + `,` + alice + `]}`,
			`Assignments(employeeId: "emp-alice") {
				items { __typename ... on Task { taskId } ... on ProjectMember { projectId } } }`: `{"items":[` + lead + `,` + foundation + `]}`,
			`DepartmentStaff(department: "engineering") {
				items { __typename ... on Employee { employeeId } ... on Equipment { equipmentId } } }`: `{"items":[` + alice + `,{"__typename":"Equipment","equipmentId":"eq-001"}]}`,
			`DepartmentStaff(department: "engineering", only: [Equipment]) {
				items { __typename ... on Equipment { equipmentId } } }`: `{"items":[{"__typename":"Equipment","equipmentId":"eq-001"}]}`,
		} {
			if got := s.Ask(t, "{ a: "+query+" }"); got != `{"a":`+want+`}` {
				t.Errorf("%s\n gives %s,\n want  %s", query, got, want)
			}
		}
	})
}

// TestEventsChangeItemsOfOtherPrograms, all keys with them, and leave the attributes alone that this system does not
// know.
func TestEventsChangeItemsOfOtherPrograms(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *site) {
		for _, it := range foreign() {
			s.put(t, it)
		}
		s.Append(t,
			event(t, "1", "EmployeeTransferred", map[string]any{"employeeId": "Emp-Alice", "department": "Sales"}),
			event(t, "2", "ProjectLeft", map[string]any{"employeeId": "Emp-Alice", "projectId": "p-α"}))
		want := foreign()[0]
		want["department"], want["updatedAt"] = "Sales", "2026-01-02T03:04:05.000Z"
		want["gsi1sk"] = "$myapp#v1#tenantmembers#employee_1#department_sales#hiredate_2024-01-15"
		want["gsi3sk"] = "$myapp#v1#contributions#employee_1#department_sales"
		want["gsi4pk"] = "$myapp#v1#departmentstaff#department_sales"
		stored := s.scan(t)
		if diff := cmp.Diff(want, stored[want["pk"]+" "+want["sk"]]); diff != "" {
			t.Errorf("the item of the employee (-want +got):\n%s", diff)
		}
		if gone := foreign()[3]; stored[gone["pk"]+" "+gone["sk"]] != nil {
			t.Error("the item of the project member is there still")
		}
		const ask = `{ DepartmentStaff(department: "sales") { items { ... on Employee { name createdAt } } } }`
		if got, want := s.Ask(t, ask),
			`{"DepartmentStaff":{"items":[{"name":"Alice","createdAt":"2024-01-10T08:00:00.000Z"}]}}`; got != want {
			t.Errorf("%s gives %s, want %s", ask, got, want)
		}
	})
}
