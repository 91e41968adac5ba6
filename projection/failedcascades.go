package projection

import (
	"context"

	"github.com/foldql/foldql/projection/internal/cascade"
)

// FailedCascade is a row of which some copies could not follow a change, and others could: they are in rows that would
// become larger than one may be. A row that holds copies by several references counts once for each.
type FailedCascade struct {
	Code      string `json:"code"` // CascadePartialFailure
	Model     string `json:"model"`
	ID        string `json:"id"`        // the row's identifier
	Succeeded int    `json:"succeeded"` // rows whose copies have followed
	Failed    int    `json:"failed"`    // rows whose copies stayed as they were
	Reason    string `json:"reason"`    // of the first
	// Errors are the first of those that Failed counts, 10 at most.
	Errors []CascadeError `json:"errors,omitempty"`
}

// CascadeError is a row whose copy could not follow.
type CascadeError struct {
	Model  string `json:"model"`
	Field  string `json:"field"` // that holds the copy
	Key    string `json:"key"`   // of the row, printable
	Reason string `json:"reason"`
}

// CascadePartialFailure is the code of a FailedCascade.
const CascadePartialFailure = "CascadePartialFailure"

// FailedCascades lists the rows of which some copies could not follow a change. They are tried again when the row
// changes, by the first Run of a Runner, and by RetryCascades.
func (r *Runner) FailedCascades(ctx context.Context) ([]FailedCascade, error) {
	_, failed, err := r.Cascades(ctx)
	return failed, err
}

// Cascades is FailedCascades with how many rows have changed and are yet to be followed by copies of them: those that
// are being tried again are among these, and not among the failed ones.
func (r *Runner) Cascades(ctx context.Context) (pending int, failed []FailedCascade, err error) {
	pending, tasks, err := r.engine.Cascades(ctx)
	return pending, failedCascades(tasks), err
}

// RetryCascades has copies follow all rows of Cascades, those that failed included. It returns how many rows it has
// tried, and those of which some copies still cannot follow.
func (r *Runner) RetryCascades(ctx context.Context) (tried int, failed []FailedCascade, err error) {
	tried, tasks, err := r.engine.RetryCascades(ctx)
	return tried, failedCascades(tasks), err
}

func failedCascades(tasks []cascade.Task) (list []FailedCascade) {
	for _, t := range tasks {
		failed := FailedCascade{CascadePartialFailure, t.Model, t.Identifier, t.Succeeded, t.Failed, t.Reason, nil}
		for _, f := range t.Failures {
			failed.Errors = append(failed.Errors, CascadeError(f))
		}
		list = append(list, failed)
	}
	return list
}
