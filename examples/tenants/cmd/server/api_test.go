package main

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// The indexes of the table.
const (
	gsi1 = iota
	gsi2
	gsi3
	gsi4
)

// TestEachQueryReadsWhatItAnswersWith: one partition of the table or of an index, whole or by prefix, and of it no row
// that is not asked for.
func TestEachQueryReadsWhatItAnswersWith(t *testing.T) {
	s := sample(t)
	const acme, alice = "$myapp#v1#tenantmembers#tenantid_t-acme", "$myapp#v1#contributions#employeeid_emp-alice"
	prefix := func(text string) []keys.Range { return []keys.Range{{Op: keys.RangePrefix, Lo: text}} }
	// under are the rows that have the leading parts of a key: one that a patch may have cut off behind them, and the
	// others.
	under := func(text string) []keys.Range {
		return []keys.Range{{Op: keys.RangeEqual, Lo: text}, {Op: keys.RangePrefix, Lo: text + "#"}}
	}
	for name, tt := range map[string]struct {
		query string
		index int
		pk    string
		rngs  []keys.Range
		want  []string
	}{
		"all of a tenant": {
			`TenantMembers(tenantId: "t-acme"`, gsi1, acme, prefix("$myapp#v1#tenantmembers#"),
			[]string{"emp-carol", "emp-alice", "emp-bob", "t-001", "t-002", "t-005", "t-003"},
		},
		"all of another tenant": {
			`TenantMembers(tenantId: "t-globex"`, gsi1, "$myapp#v1#tenantmembers#tenantid_t-globex",
			prefix("$myapp#v1#tenantmembers#"), []string{"emp-dave", "t-004"},
		},
		"all of nobody": {
			`TenantMembers(tenantId: "t-initech"`, gsi1, "$myapp#v1#tenantmembers#tenantid_t-initech",
			prefix("$myapp#v1#tenantmembers#"), nil,
		},
		"the employees of a collection": {
			`TenantMembers(tenantId: "t-acme", only: [Employee]`, gsi1, acme, prefix("$myapp#v1#tenantmembers#employee_1#"),
			[]string{"emp-carol", "emp-alice", "emp-bob"},
		},
		"the tasks of a collection": {
			`TenantMembers(tenantId: "t-acme", only: [Task]`, gsi1, acme, prefix("$myapp#v1#tenantmembers#task_1#"),
			[]string{"t-001", "t-002", "t-005", "t-003"},
		},
		"the employees of a tenant": {
			`EmployeeTenantMembers(tenantId: "t-acme"`, gsi1, acme, prefix("$myapp#v1#tenantmembers#employee_1#"),
			[]string{"emp-carol", "emp-alice", "emp-bob"},
		},
		"the employees of a tenant's department": {
			`EmployeeTenantMembers(tenantId: "t-acme", department: "engineering"`, gsi1, acme,
			under("$myapp#v1#tenantmembers#employee_1#department_engineering"), []string{"emp-carol", "emp-alice"},
		},
		"the employees of a department in another case": {
			`EmployeeTenantMembers(tenantId: "T-Acme", department: "Engineering"`, gsi1, acme,
			under("$myapp#v1#tenantmembers#employee_1#department_engineering"), []string{"emp-carol", "emp-alice"},
		},
		"the employees of departments that begin so": {
			`EmployeeTenantMembers(tenantId: "t-acme", prefix: "eng"`, gsi1, acme,
			prefix("$myapp#v1#tenantmembers#employee_1#department_eng"), []string{"emp-carol", "emp-alice"},
		},
		"the employees of a department hired in a year": {
			`EmployeeTenantMembers(tenantId: "t-acme", department: "engineering", prefix: "2024"`, gsi1, acme,
			prefix("$myapp#v1#tenantmembers#employee_1#department_engineering#hiredate_2024"), []string{"emp-alice"},
		},
		"the tasks of a tenant": {
			`TaskTenantMembers(tenantId: "t-acme"`, gsi1, acme, prefix("$myapp#v1#tenantmembers#task_1#"),
			[]string{"t-001", "t-002", "t-005", "t-003"},
		},
		"the tasks of a project": {
			`TaskTenantMembers(tenantId: "t-acme", projectId: "proj-alpha"`, gsi1, acme,
			prefix("$myapp#v1#tenantmembers#task_1#projectid_proj-alpha#"), []string{"t-001", "t-002", "t-005"},
		},
		"who has an address": {
			`EmployeeByEmail(email: "carol.jones@ACME.example"`, gsi2, "$myapp#v1#employee#email_carol.jones@acme.example",
			[]keys.Range{{Op: keys.RangeEqual, Lo: "$myapp#v1#employee"}}, []string{"emp-carol"},
		},
		"who had an address": {
			`EmployeeByEmail(email: "carol@acme.example"`, gsi2, "$myapp#v1#employee#email_carol@acme.example",
			[]keys.Range{{Op: keys.RangeEqual, Lo: "$myapp#v1#employee"}}, nil,
		},
		"the tasks of somebody, the most urgent first": {
			`TaskByAssignee(employeeId: "emp-alice"`, gsi2, "$myapp#v1#task#employeeid_emp-alice",
			prefix("$myapp#v1#task#"), []string{"t-002", "t-003", "t-001"},
		},
		"the tasks of one who has none any more": {
			`TaskByAssignee(employeeId: "emp-bob"`, gsi2, "$myapp#v1#task#employeeid_emp-bob", prefix("$myapp#v1#task#"), nil,
		},
		"all of an employee": {
			`Contributions(employeeId: "emp-alice"`, gsi3, alice, prefix("$myapp#v1#contributions#"),
			[]string{"emp-alice/proj-alpha", "emp-alice/proj-beta", "t-001", "t-002", "t-003", "emp-alice"},
		},
		"what is assigned to an employee": {
			`Assignments(employeeId: "emp-alice"`, gsi3, alice, prefix("$myapp#v1#contributions#assignments#"),
			[]string{"emp-alice/proj-alpha", "emp-alice/proj-beta", "t-001", "t-002", "t-003"},
		},
		"the projects of an employee": {
			`ProjectMemberAssignments(employeeId: "emp-alice"`, gsi3, alice,
			prefix("$myapp#v1#contributions#assignments#projectmember_1#"), []string{"emp-alice/proj-alpha",
				"emp-alice/proj-beta"},
		},
		"the tasks of an employee": {
			`TaskAssignments(employeeId: "emp-alice"`, gsi3, alice, prefix("$myapp#v1#contributions#assignments#task_1#"),
			[]string{"t-001", "t-002", "t-003"},
		},
		"the tasks of an employee in a project": {
			`TaskAssignments(employeeId: "emp-alice", projectId: "proj-alpha"`, gsi3, alice,
			prefix("$myapp#v1#contributions#assignments#task_1#projectid_proj-alpha#"), []string{"t-001", "t-002"},
		},
		"the employee among what there is of them": {
			`Contributions(employeeId: "emp-alice", only: [Employee]`, gsi3, alice,
			prefix("$myapp#v1#contributions#employee_1#"), []string{"emp-alice"},
		},
		"who and what is in a department": {
			`DepartmentStaff(department: "engineering"`, gsi4, "$myapp#v1#departmentstaff#department_engineering",
			[]keys.Range{{}},
			[]string{"emp-carol", "emp-dave", "emp-alice", "eq-003", "eq-001"},
		},
		"what is in a department": {
			`DepartmentStaff(department: "engineering", only: [Equipment]`, gsi4,
			"$myapp#v1#departmentstaff#department_engineering", prefix("$myapp#v1#equipment_1#"), []string{"eq-003", "eq-001"},
		},
		"who is in a department, by the day of hire": {
			`EmployeeDepartmentStaff(department: "engineering", from: "2021-01-01"`, gsi4,
			"$myapp#v1#departmentstaff#department_engineering",
			[]keys.Range{{Op: keys.RangeBetween, Lo: "$myapp#v1#employee_1#hiredate_2021-01-01",
				Hi: "$myapp#v1#employee_1#\U0010ffff"}},
			[]string{"emp-dave", "emp-alice"},
		},
		"roles in an organisation": {
			`MembershipByPrimary(orgId: "org-acme"`, driver.Primary, "$myapp#v1#membership#orgid_org-acme",
			prefix("$myapp#v1#membership#"),
			[]string{"admin:emp-alice", "admin:emp-carol", "member:emp-bob", "member-at-large:emp-dave"},
		},
		"those with a role, and not with one that begins so": {
			`MembershipByPrimary(orgId: "org-acme", role: "member"`, driver.Primary, "$myapp#v1#membership#orgid_org-acme",
			prefix("$myapp#v1#membership#role_member#"), []string{"member:emp-bob"},
		},
		"those with roles that begin so": {
			`MembershipByPrimary(orgId: "org-acme", prefix: "member"`, driver.Primary, "$myapp#v1#membership#orgid_org-acme",
			prefix("$myapp#v1#membership#role_member"), []string{"member:emp-bob", "member-at-large:emp-dave"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachWay(t, s, func(t *testing.T, api http.Handler) {
				s.store.take()
				forward := ids(t, api, tt.query+")")
				if diff := cmp.Diff(tt.want, forward); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tt.query, diff)
				}
				asked := s.store.take()
				if diff := cmp.Diff(tt.rngs, ranges(t, asked, tt.index, tt.pk)); diff != "" {
					t.Errorf("ranges (-want +got):\n%s", diff)
				}
				backward := ids(t, api, tt.query+", reverse: true)")
				slices.Reverse(backward)
				if diff := cmp.Diff(forward, backward); diff != "" {
					t.Errorf("backward (-forward +backward):\n%s", diff)
				}
			})
		})
	}
}

// ranges are those of the queries, which are of one partition.
func ranges(t *testing.T, asked []driver.Query, index int, pk string) (list []keys.Range) {
	t.Helper()
	for _, q := range asked {
		if q.Index != index || q.PK != pk {
			t.Errorf("asked %q in index %d, want %q in index %d", q.PK, q.Index, pk, index)
		}
		list = append(list, q.Range)
	}
	return list
}

// TestSomeMembersAreReadOneAfterAnother, in the order in which they are stored, whatever the order in which they are
// named.
func TestSomeMembersAreReadOneAfterAnother(t *testing.T) {
	s := sample(t)
	eachWay(t, s, func(t *testing.T, api http.Handler) {
		for _, only := range []string{"Employee, ProjectMember", "ProjectMember, Employee",
			"Employee, ProjectMember, Employee"} {
			got := ids(t, api, `Contributions(employeeId: "emp-alice", only: [`+only+`])`)
			if diff := cmp.Diff([]string{"emp-alice/proj-alpha", "emp-alice/proj-beta", "emp-alice"}, got); diff != "" {
				t.Errorf("only %s (-want +got):\n%s", only, diff)
			}
			if asked := s.store.take(); len(asked) != 2 {
				t.Errorf("only %s is %d queries, want one for each of two types", only, len(asked))
			}
		}
	})
}

// TestOneRowIsFound by its key, in whatever case it is given.
func TestOneRowIsFound(t *testing.T) {
	eachWay(t, sample(t), func(t *testing.T, api http.Handler) {
		for query, want := range map[string]string{
			`Employee(employeeId: "emp-alice") { name ` +
				`department hireDate }`: `{"name":"Alice","department":"engineering","hireDate":"2024-01-15"}`,
			`Employee(employeeId: "Emp-Alice") { employeeId }`: `{"employeeId":"emp-alice"}`,
			`Employee(employeeId: "emp-carol") { email }`:      `{"email":"Carol.Jones@acme.example"}`,
			`Employee(employeeId: "emp-eve") { name }`:         `null`,
			`Task(taskId: "t-001") { priority status assignee { name } ` +
				`membership { role } }`: `{"priority":20,"status":"open","assignee":{"name":"Alice"},"membership":{"role":"lead"}}`,
			`Task(taskId: "t-002") { status ` +
				`createdAt updatedAt }`: `{"status":"done","createdAt":"2024-01-10T15:00:00.000Z","updatedAt":"2024-01-11T01:00:00.000Z"}`,
			`Task(taskId: "t-005") { employeeId ` +
				`assignee { name } membership { role } }`: `{"employeeId":null,"assignee":null,"membership":null}`,
			`Task(taskId: "t-00") { title }`:                                                      `null`,
			`Equipment(equipmentId: "eq-003") { department }`:                                     `{"department":"engineering"}`,
			`ProjectMember(employeeId: "emp-alice", projectId: "proj-alpha") { role }`:            `{"role":"lead"}`,
			`Membership(orgId: "org-acme", role: "admin", userId: "emp-carol") { user { name } }`: `{"user":{"name":"Carol"}}`,
		} {
			if got := ask(t, api, query); got != want {
				t.Errorf("%s gives %s, want %s", query, got, want)
			}
		}
	})
}

// TestExamplesAnswer with rows, each of them.
func TestExamplesAnswer(t *testing.T) {
	names := regexp.MustCompile(`(?m)^query (\w+)`).FindAllStringSubmatch(examples, -1)
	if len(names) == 0 {
		t.Fatal("there are no examples")
	}
	eachWay(t, sample(t), func(t *testing.T, api http.Handler) {
		for _, name := range names {
			answer := string(post(t, api, map[string]any{"query": examples, "operationName": name[1]}))
			for _, nothing := range []string{`:null`, `"items":[]`} {
				rest := strings.NewReplacer(`"nextToken":null`, "", `"assignee":null`, "").Replace(answer)
				if strings.Contains(rest, nothing) {
					t.Errorf("%s answers with nothing: %s", name[1], answer)
				}
			}
		}
	})
}

// TestMembersOfACollectionAreKnown: another type is refused, and so is none.
func TestMembersOfACollectionAreKnown(t *testing.T) {
	eachWay(t, sample(t), func(t *testing.T, api http.Handler) {
		for _, only := range []string{"[]", "[Equipment]", "[Employee, null]"} {
			query := fmt.Sprintf(`{ TenantMembers(tenantId: "t-acme", only: %s) { nextToken } }`, only)
			if answer := string(send(t, api, map[string]any{"query": query})); !strings.Contains(answer, `"errors":[`) {
				t.Errorf("only: %s gives %s", only, answer)
			}
		}
	})
}
