package cascade

import "github.com/foldql/foldql/querydb"

// The ID of a task is that of its row, and once a note is deleted, stores count the revisions of the next from the
// beginning. So the revision alone does not tell a task from one that took its place: another process may have ended
// it, and changed the row again as often as it was worked at. For that there is a version of the tasks of some rows: a
// note that each commit writes which takes one of them off, so that its revision grows. A commit that works at a task
// takes effect only where the version is still the one that was read before the task.

// TaskVersionID is the ID of the note of the version for tasks of that ID. There are 256: enough for processes that
// take off tasks at the same time to hinder each other seldom, and few beside the rows.
func TaskVersionID(id string) string { return digest(id)[:2] }

// RestOn has commits that work at the task rest on the version at that revision, which was read before the task.
func (t *Task) RestOn(version uint64) { t.version = version }

// TaskVersions are what a commit that works at the tasks says of their versions: it checks all, and writes those of
// tasks that it takes off.
func TaskVersions(kind string, tasks ...Task) (notes []querydb.Note) {
	of := map[string]int{}
	for i := range tasks {
		t := &tasks[i]
		id := TaskVersionID(t.ID())
		n, there := of[id]
		if !there {
			n, of[id] = len(notes), len(notes)
			notes = append(notes, querydb.Note{Kind: kind, ID: id, IfRevision: true, Revision: t.version, CheckOnly: true})
		}
		if t.isOver() {
			notes[n].CheckOnly, notes[n].Value = false, []byte("{}")
		}
	}
	return notes
}
