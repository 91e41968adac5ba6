package tenants

import (
	"github.com/foldql/foldql/projection"

	"example.com/tenants/event"
	"example.com/tenants/model"
	"example.com/tenants/projection/ops"
)

// Employee keeps who works for whom.
type Employee struct{}

// EmployeeHired adds an employee.
func (Employee) EmployeeHired(e event.EmployeeHired, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Employee.Set(model.Employee{
		EmployeeID: e.EmployeeID, TenantID: e.TenantID, Email: e.Email, Name: e.Name, Department: e.Department,
		HireDate: e.HireDate,
	})}
}

// EmployeeTransferred moves the employee to another department, in every index that has it in a key.
func (Employee) EmployeeTransferred(e event.EmployeeTransferred, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Employee.Update(e.EmployeeID, func(r *model.Employee) { r.Department = e.Department })}
}

// EmailChanged gives the employee another address.
func (Employee) EmailChanged(e event.EmailChanged, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Employee.Update(e.EmployeeID, func(r *model.Employee) { r.Email = e.Email })}
}

// EmployeeLeft removes the employee. What was assigned stays so, until somebody assigns it again.
func (Employee) EmployeeLeft(e event.EmployeeLeft, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Employee.Delete(e.EmployeeID)}
}
