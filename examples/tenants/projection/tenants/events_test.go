package tenants_test

import (
	"time"

	"github.com/foldql/foldql/projection/projectiontest"
)

// The events of the specs, a minute apart, and the times in them.

type data = map[string]any

func of(kind string, d data) projectiontest.Event { return projectiontest.Event{Type: kind, Data: d} }

func hired(id, department string) projectiontest.Event {
	return of("EmployeeHired", data{
		"employeeId": id, "tenantId": "t-acme", "email": id + "@acme.example", "name": "The " + id,
		"department": department, "hireDate": "2024-01-15",
	})
}

func onEmployee(kind, id string, d data) projectiontest.Event { return with(kind, "employeeId", id, d) }
func onTask(kind, id string, d data) projectiontest.Event     { return with(kind, "taskId", id, d) }

func created(id string) projectiontest.Event {
	return onTask("TaskCreated", id, data{"tenantId": "t-acme", "projectId": "proj-alpha", "title": "Do " + id,
		"priority": 2})
}

func onEquipment(kind, id string, d data) projectiontest.Event {
	return with(kind, "equipmentId", id, d)
}

func with(kind, name, id string, d data) projectiontest.Event {
	if d == nil {
		d = data{}
	}
	d[name] = id
	return of(kind, d)
}

// minute is the time of the event of the number, the first being 1.
func minute(number int) *time.Time {
	return new(time.Date(2024, 1, 1, 0, number-1, 0, 0, time.UTC))
}
