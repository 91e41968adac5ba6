package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"

	"example.com/tenants/model"
)

// TestRowsAreStoredUnderTheKeys: the texts of the table and of its four indexes, as other programs find them there.
func TestRowsAreStoredUnderTheKeys(t *testing.T) {
	s := sample(t)
	for _, tt := range []struct {
		model *querydb.Model
		key   keys.Key
		gsis  []driver.IndexKey
	}{
		{
			model.EmployeeModel, keys.Key{PK: "$myapp#v1#employee#employeeid_emp-alice", SK: "$myapp#v1#employee"},
			[]driver.IndexKey{
				in("$myapp#v1#tenantmembers#tenantid_t-acme",
					"$myapp#v1#tenantmembers#employee_1#department_engineering#hiredate_2024-01-15"),
				in("$myapp#v1#employee#email_alice@acme.example", "$myapp#v1#employee"),
				in("$myapp#v1#contributions#employeeid_emp-alice", "$myapp#v1#contributions#employee_1#department_engineering"),
				in("$myapp#v1#departmentstaff#department_engineering", "$myapp#v1#employee_1#hiredate_2024-01-15"),
			},
		},
		{
			model.EmployeeModel, keys.Key{PK: "$myapp#v1#employee#employeeid_emp-bob", SK: "$myapp#v1#employee"},
			[]driver.IndexKey{
				in("$myapp#v1#tenantmembers#tenantid_t-acme",
					"$myapp#v1#tenantmembers#employee_1#department_sales#hiredate_2023-06-01"),
				in("$myapp#v1#employee#email_bob@acme.example", "$myapp#v1#employee"),
				in("$myapp#v1#contributions#employeeid_emp-bob", "$myapp#v1#contributions#employee_1#department_sales"),
				in("$myapp#v1#departmentstaff#department_sales", "$myapp#v1#employee_1#hiredate_2023-06-01"),
			},
		},
		{
			model.TaskModel, keys.Key{PK: "$myapp#v1#task#taskid_t-001", SK: "$myapp#v1#task"},
			[]driver.IndexKey{
				in("$myapp#v1#tenantmembers#tenantid_t-acme", "$myapp#v1#tenantmembers#task_1#projectid_proj-alpha#taskid_t-001"),
				in("$myapp#v1#task#employeeid_emp-alice", "$myapp#v1#task#priority_0000000000000020"),
				in("$myapp#v1#contributions#employeeid_emp-alice",
					"$myapp#v1#contributions#assignments#task_1#projectid_proj-alpha#taskid_t-001"),
				{},
			},
		},
		{ // of nobody any more: an update takes one half of a key, and leaves the other
			model.TaskModel, keys.Key{PK: "$myapp#v1#task#taskid_t-005", SK: "$myapp#v1#task"},
			[]driver.IndexKey{
				in("$myapp#v1#tenantmembers#tenantid_t-acme", "$myapp#v1#tenantmembers#task_1#projectid_proj-alpha#taskid_t-005"),
				alone("$myapp#v1#task#priority_0000000000000005"),
				alone("$myapp#v1#contributions#assignments#task_1#projectid_proj-alpha#taskid_t-005"),
				{},
			},
		},
		{
			model.EquipmentModel, keys.Key{PK: "$myapp#v1#equipment#equipmentid_eq-001", SK: "$myapp#v1#equipment"},
			[]driver.IndexKey{
				{}, {}, {},
				in("$myapp#v1#departmentstaff#department_engineering", "$myapp#v1#equipment_1#purchasedate_2023-06-01"),
			},
		},
		{
			model.ProjectMemberModel,
			keys.Key{PK: "$myapp#v1#projectmember#employeeid_emp-alice#projectid_proj-alpha", SK: "$myapp#v1#projectmember"},
			[]driver.IndexKey{
				{}, {},
				in("$myapp#v1#contributions#employeeid_emp-alice",
					"$myapp#v1#contributions#assignments#projectmember_1#projectid_proj-alpha"),
				{},
			},
		},
		{
			model.MembershipModel,
			keys.Key{PK: "$myapp#v1#membership#orgid_org-acme", SK: "$myapp#v1#membership#role_admin#userid_emp-alice"},
			[]driver.IndexKey{{}, {}, {}, {}},
		},
	} {
		rows, err := s.db.Get(t.Context(), tt.model, []keys.Key{tt.key}, false)
		if err != nil {
			t.Fatal(err)
		}
		if rows[0].Record == nil {
			t.Errorf("there is no %s under %q", tt.model.Name, tt.key)
		} else if diff := cmp.Diff(tt.gsis, rows[0].Indexes); diff != "" {
			t.Errorf("index keys of %q (-want +got):\n%s", tt.key, diff)
		}
	}
}

// alone is the sort half of a key, under which the row is in no index.
func alone(sk string) driver.IndexKey { return driver.IndexKey{Key: keys.Key{SK: sk}, HasSK: true} }

// in is a key of an index.
func in(pk, sk string) driver.IndexKey {
	return driver.IndexKey{Key: keys.Key{PK: pk, SK: sk}, HasPK: true, HasSK: true}
}
