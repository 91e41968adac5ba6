package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
)

// member is a row of a collection as the test knows it: where it lies, and what it is known by.
type member struct{ of, sk, id string }

// crowd makes a tenant with so many rows, of which some are of somebody, in a department and a project of a few: the
// events, and what there is in each collection.
func crowd(t *testing.T, seed uint64, size int) (events []eventlog.Event, tenant, somebody, department []member) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	add := func(kind string, data map[string]any) {
		text, err := json.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, eventlog.Event{ID: fmt.Sprint(len(events)), Source: "/tenants", Type: kind, Data: text})
	}
	for n := range size {
		id := fmt.Sprintf("%03d", n)
		dept, project := one("it", "it-support", "sales", "Sales!"), one("p", "p-1", "p1")
		day := fmt.Sprintf("20%02d-01-15", r.IntN(25))
		switch r.IntN(4) {
		case 0:
			add("EmployeeHired", map[string]any{
				"employeeId": id, "tenantId": "T", "email": id, "name": id, "department": dept, "hireDate": day,
			})
			tenant = append(tenant, member{"Employee", "employee_1#department_" + strings.ToLower(dept) + "#hiredate_" + day +
				"\x00" + id, id})
			if dept == "it" {
				department = append(department, member{"Employee", "employee_1#hiredate_" + day + "\x00" + id, id})
			}
		case 1:
			add("EquipmentBought", map[string]any{"equipmentId": id, "department": dept, "name": id, "purchaseDate": day})
			if dept == "it" {
				department = append(department, member{"Equipment", "equipment_1#purchasedate_" + day + "\x00" + id, id})
			}
		case 2:
			add("ProjectJoined", map[string]any{"employeeId": "E", "projectId": id, "role": "member"})
			somebody = append(somebody, member{"ProjectMember", "assignments#projectmember_1#projectid_" + id, "E/" + id})
		default:
			add("TaskCreated", map[string]any{"taskId": id, "tenantId": "T", "projectId": project, "title": id,
				"priority": r.IntN(20)})
			tenant = append(tenant, member{"Task", "task_1#projectid_" + project + "#taskid_" + id, id})
			if r.IntN(2) == 0 {
				add("TaskAssigned", map[string]any{"taskId": id, "employeeId": "E"})
				somebody = append(somebody, member{"Task", "assignments#task_1#projectid_" + project + "#taskid_" + id, id})
			}
		}
	}
	add("EmployeeHired", map[string]any{
		"employeeId": "E", "tenantId": "another", "email": "e", "name": "E", "department": "nowhere",
		"hireDate": "2024-01-15",
	})
	return events, tenant, append(somebody, member{"Employee", "employee_1#department_nowhere", "E"}), department
}

// TestPagesOfACollectionFollowOneAnother: full until the last, of rows of interleaved types, in both directions, of all
// types and of some. A page of all is one request to the store; one of some is one for each, at most.
func TestPagesOfACollectionFollowOneAnother(t *testing.T) {
	const seed = 7
	events, tenant, somebody, department := crowd(t, seed, 80)
	t.Logf("seed %d: %d of the tenant, %d of somebody, %d of the department", seed, len(tenant), len(somebody),
		len(department))
	log := memlog.New(memlog.Options{})
	if _, err := log.Append(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	log.End()
	s := open(t)
	s.fold(t, log)
	isAssigned := func(m member) bool { return m.of != "Employee" }
	assigned := slices.DeleteFunc(slices.Clone(somebody), func(m member) bool { return !isAssigned(m) })
	eachWay(t, s, func(t *testing.T, api http.Handler) {
		for query, all := range map[string][]member{
			`TenantMembers(tenantId: "t"`: tenant, `Contributions(employeeId: "e"`: somebody,
			`Assignments(employeeId: "e"`:      assigned,
			`DepartmentStaff(department: "it"`: department,
		} {
			name, _, _ := strings.Cut(query, "(")
			for _, only := range subsets(members[name]) {
				for _, reverse := range []bool{false, true} {
					want := expected(all, only, reverse)
					arguments := fmt.Sprintf("%s, only: [%s], reverse: %v", query, strings.Join(only, " "), reverse)
					ranges := len(only)
					if ranges == len(members[name]) {
						ranges = 1
					}
					for _, limit := range []int{1, 2, 3, 7, 1000} {
						if diff := cmp.Diff(want, s.walk(t, api, arguments, limit, ranges, len(want))); diff != "" {
							t.Errorf("%s, pages of %d (-want +got):\n%s", arguments, limit, diff)
						}
					}
				}
			}
		}
	})
}

// TestAPageWithoutRowsBesideACursorHasNoCursor, and the rows on the other side follow from the one that was given.
func TestAPageWithoutRowsBesideACursorHasNoCursor(t *testing.T) {
	const none = `"startCursor":null,"endCursor":null`
	eachWay(t, sample(t), func(t *testing.T, api http.Handler) {
		var rows struct {
			Edges []struct {
				Cursor string
				Node   json.RawMessage
			}
		}
		tasks := func(arguments, fields string) string {
			return ask(t, api, `TaskByAssignee(employeeId: "emp-alice", `+arguments+") { "+fields+" }")
		}
		if err := json.Unmarshal([]byte(tasks("first: 1000", "edges { cursor node { taskId } }")), &rows); err != nil {
			t.Fatal(err)
		}
		first, last := rows.Edges[0], rows.Edges[len(rows.Edges)-1]
		const asked = "edges { node { taskId } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }"
		for _, c := range []struct{ page, flags, onward, next string }{
			{fmt.Sprintf("last: 5, before: %q", first.Cursor), `"hasNextPage":true,"hasPreviousPage":false`,
				fmt.Sprintf("first: 1, after: %q", first.Cursor), string(rows.Edges[1].Node)},
			{fmt.Sprintf("first: 5, after: %q", last.Cursor), `"hasNextPage":false,"hasPreviousPage":true`,
				fmt.Sprintf("last: 1, before: %q", last.Cursor), string(rows.Edges[len(rows.Edges)-2].Node)},
		} {
			want := `{"edges":[],"pageInfo":{` + c.flags + "," + none + "}}"
			if got := tasks(c.page, asked); got != want {
				t.Errorf("%s: got %s, want %s", c.page, got, want)
			}
			want = `{"edges":[{"node":` + c.next + "}]}"
			if got := tasks(c.onward, "edges { node { taskId } }"); got != want {
				t.Errorf("%s: got %s, want %s", c.onward, got, want)
			}
		}
	})
}

// expected is what the rows of the types are known by, in the order in which they are stored.
func expected(all []member, only []string, reverse bool) (ids []string) {
	chosen := slices.DeleteFunc(slices.Clone(all), func(m member) bool { return !slices.Contains(only, m.of) })
	slices.SortFunc(chosen, func(a, b member) int { return strings.Compare(a.sk, b.sk) })
	for _, m := range chosen {
		ids = append(ids, m.id)
	}
	if reverse {
		slices.Reverse(ids)
	}
	return ids
}

// subsets are all choices of the types, but for none.
func subsets(of []string) (list [][]string) {
	for bits := 1; bits < 1<<len(of); bits++ {
		var one []string
		for i, name := range of {
			if bits>>i&1 == 1 {
				one = append(one, name)
			}
		}
		list = append(list, one)
	}
	return list
}

// walk goes from page to page, of which only the last may have less than the limit, and counts what each asks of the
// store.
func (s *site) walk(t *testing.T, api http.Handler, query string, limit, ranges, total int) (all []string) {
	t.Helper()
	s.store.take()
	for token := "null"; token != ""; {
		items, next := page(t, api, fmt.Sprintf("%s, limit: %d, nextToken: %s)", query, limit, token))
		all, token = append(all, items...), ""
		if next != nil {
			token = `"` + *next + `"`
		}
		if len(items) != min(limit, total) {
			t.Fatalf("%s: a page of %d has %d rows", query, limit, len(items))
		}
		if total -= len(items); (next != nil) != (total > 0) {
			t.Fatalf("%s: %d rows are left, and there is a next page: %v", query, total, next != nil)
		}
		if asked := s.store.take(); len(asked) == 0 || len(asked) > ranges {
			t.Fatalf("%s: a page asks %d times, want %d at most", query, len(asked), ranges)
		}
	}
	return all
}
