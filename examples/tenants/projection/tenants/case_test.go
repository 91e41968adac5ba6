package tenants_test

import (
	"testing"

	"github.com/foldql/foldql/projection/projectiontest"

	"example.com/tenants/model"
)

// TestEmployeeUnderTheKeyOfAnotherWaits: keys are in lower case, so an id that differs from another by its case alone
// has its key. The row that is there stays what it is.
func TestEmployeeUnderTheKeyOfAnotherWaits(t *testing.T) {
	employeeSpec(t, []projectiontest.Event{hired("emp-alice", "engineering"), hired("Emp-Alice", "sales")},
		[]model.Employee{{
			EmployeeID: "emp-alice", TenantID: "t-acme", Email: "emp-alice@acme.example", Name: "The emp-alice",
			Department: "engineering", HireDate: "2024-01-15", CreatedAt: minute(1), UpdatedAt: minute(1),
		}},
		projectiontest.DeadLetter{ID: "2", Reason: "emp-alice"})
}
