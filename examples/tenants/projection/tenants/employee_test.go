package tenants_test

import (
	"testing"

	"github.com/foldql/foldql/projection/projectiontest"

	"example.com/tenants/model"
	"example.com/tenants/projection/ops"
	"example.com/tenants/projection/tenants"
)

func TestEmployeeIsWhatWasSaidOfThemLast(t *testing.T) {
	alice := model.Employee{
		EmployeeID: "emp-alice", TenantID: "t-acme", Email: "emp-alice@acme.example", Name: "The emp-alice",
		Department: "engineering", HireDate: "2024-01-15", CreatedAt: minute(1), UpdatedAt: minute(1),
	}
	transferred, renamed := alice, alice
	transferred.Department, transferred.UpdatedAt = "sales", minute(2)
	renamed.Email, renamed.UpdatedAt = "Alice@acme.example", minute(2)

	hire := hired("emp-alice", "engineering")
	for name, tt := range map[string]struct {
		given []projectiontest.Event
		want  []model.Employee
	}{
		"hired": {[]projectiontest.Event{hire}, []model.Employee{alice}},
		"transferred": {
			[]projectiontest.Event{hire, onEmployee("EmployeeTransferred", "emp-alice", data{"department": "sales"})},
			[]model.Employee{transferred},
		},
		"with another address": {
			[]projectiontest.Event{hire, onEmployee("EmailChanged", "emp-alice", data{"email": "Alice@acme.example"})},
			[]model.Employee{renamed},
		},
		"gone": {[]projectiontest.Event{hire, onEmployee("EmployeeLeft", "emp-alice", nil)}, nil},
	} {
		t.Run(name, func(t *testing.T) { employeeSpec(t, tt.given, tt.want) })
	}
}

// TestEmployeeWhoIsNotThereIsNotChanged: the event waits until somebody looks at it.
func TestEmployeeWhoIsNotThereIsNotChanged(t *testing.T) {
	for _, e := range []projectiontest.Event{
		onEmployee("EmployeeTransferred", "emp-alice", data{"department": "sales"}),
		onEmployee("EmailChanged", "emp-alice", data{"email": "a@acme.example"}),
	} {
		employeeSpec(t, []projectiontest.Event{e}, nil, projectiontest.DeadLetter{ID: "1",
			Reason: "$myapp#v1#employee#employeeid_emp-alice"})
	}
}

func employeeSpec(t *testing.T, given []projectiontest.Event, want []model.Employee,
	letters ...projectiontest.DeadLetter) {
	t.Helper()
	projectiontest.Run(t, projectiontest.Spec[model.Employee]{
		Projection: ops.ProjectEmployee(tenants.Employee{}), Codec: model.EmployeeCodec,
		Given: given, Want: want, WantDeadLetters: letters,
	})
}
