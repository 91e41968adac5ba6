package tenants

import (
	"github.com/foldql/foldql/projection"

	"example.com/tenants/event"
	"example.com/tenants/model"
	"example.com/tenants/projection/ops"
)

// Task keeps what is to be done, and by whom.
type Task struct{}

// TaskCreated adds a task of nobody.
func (Task) TaskCreated(e event.TaskCreated, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Task.Set(model.Task{
		TaskID: e.TaskID, TenantID: e.TenantID, ProjectID: e.ProjectID, Title: e.Title, Priority: e.Priority,
		Status: model.TaskStatusOpen,
	})}
}

// TaskAssigned makes it somebody's, or nobody's: it is in the indexes of assignees only while it has one.
func (Task) TaskAssigned(e event.TaskAssigned, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Task.Update(e.TaskID, func(r *model.Task) { r.EmployeeID = e.EmployeeID })}
}

// TaskPrioritised moves it among the tasks of its assignee.
func (Task) TaskPrioritised(e event.TaskPrioritised, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Task.Update(e.TaskID, func(r *model.Task) { r.Priority = e.Priority })}
}

// TaskDone marks it done.
func (Task) TaskDone(e event.TaskDone, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Task.Update(e.TaskID, func(r *model.Task) { r.Status = model.TaskStatusDone })}
}

// TaskDeleted removes it.
func (Task) TaskDeleted(e event.TaskDeleted, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Task.Delete(e.TaskID)}
}
