package tenants_test

import (
	"testing"

	"github.com/foldql/foldql/projection/projectiontest"

	"example.com/tenants/model"
	"example.com/tenants/projection/ops"
	"example.com/tenants/projection/tenants"
)

func TestTaskGoesThroughHands(t *testing.T) {
	open := model.Task{
		TaskID: "t-001", TenantID: "t-acme", ProjectID: "proj-alpha", Title: "Do t-001", Priority: 2,
		Status: model.TaskStatusOpen, CreatedAt: minute(1), UpdatedAt: minute(1),
	}
	assigned, unassigned, urgent, done := open, open, open, open
	assigned.EmployeeID, assigned.UpdatedAt = new("emp-alice"), minute(2)
	unassigned.UpdatedAt = minute(3)
	urgent.Priority, urgent.UpdatedAt = 1, minute(2)
	done.Status, done.UpdatedAt = model.TaskStatusDone, minute(2)

	create := created("t-001")
	assign := onTask("TaskAssigned", "t-001", data{"employeeId": "emp-alice"})
	for name, tt := range map[string]struct {
		given []projectiontest.Event
		want  []model.Task
	}{
		"created":  {[]projectiontest.Event{create}, []model.Task{open}},
		"assigned": {[]projectiontest.Event{create, assign}, []model.Task{assigned}},
		"unassigned": {[]projectiontest.Event{create, assign, onTask("TaskAssigned", "t-001", nil)},
			[]model.Task{unassigned}},
		"urgent": {[]projectiontest.Event{create, onTask("TaskPrioritised", "t-001", data{"priority": 1})},
			[]model.Task{urgent}},
		"done":    {[]projectiontest.Event{create, onTask("TaskDone", "t-001", nil)}, []model.Task{done}},
		"deleted": {[]projectiontest.Event{create, onTask("TaskDeleted", "t-001", nil)}, nil},
	} {
		t.Run(name, func(t *testing.T) { taskSpec(t, tt.given, tt.want) })
	}
}

// TestTaskThatIsNotThereIsNotChanged: the event waits until somebody looks at it.
func TestTaskThatIsNotThereIsNotChanged(t *testing.T) {
	for _, e := range []projectiontest.Event{
		onTask("TaskAssigned", "t-001", nil), onTask("TaskPrioritised", "t-001", data{"priority": 1}), onTask("TaskDone",
			"t-001", nil),
	} {
		taskSpec(t, []projectiontest.Event{e}, nil, projectiontest.DeadLetter{ID: "1", Reason: "$myapp#v1#task#taskid_t-001"})
	}
}

func taskSpec(t *testing.T, given []projectiontest.Event, want []model.Task, letters ...projectiontest.DeadLetter) {
	t.Helper()
	projectiontest.Run(t, projectiontest.Spec[model.Task]{
		Projection: ops.ProjectTask(tenants.Task{}), Codec: model.TaskCodec,
		Given: given, Want: want, WantDeadLetters: letters,
	})
}
