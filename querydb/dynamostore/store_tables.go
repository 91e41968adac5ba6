package dynamostore

import (
	"context"

	"github.com/foldql/foldql/querydb/driver"
)

// Plan compares the tables with those that exist, and changes nothing.
func (s *Store) Plan(ctx context.Context, t Tables, allowDelete bool) (Plan, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return Plan{}, err
	}
	defer leave()
	return s.tables.Plan(ctx, t, allowDelete)
}

// CheckTables returns an error that matches driver.ErrTablesNotReady and says what is missing, where rows of the tables
// cannot be read and written.
func (s *Store) CheckTables(ctx context.Context, needed []*driver.Table) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return s.tables.CheckTables(ctx, needed)
}

// ApplyTables carries out the Plan, and returns when all of it is done; progress is called for each step as it begins,
// and now and then while it lasts. What is to do follows from what exists alone, so another call resumes an interrupted
// one.
func (s *Store) ApplyTables(ctx context.Context, t Tables, allowDelete bool, progress func(string)) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return s.tables.ApplyTables(ctx, t, allowDelete, progress)
}

// Exists reports whether the table can be read.
func (s *Store) Exists(ctx context.Context, t *driver.Table) (bool, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return false, err
	}
	defer leave()
	return s.tables.Exists(ctx, t)
}

// TableIDs implements driver.Identifier.
func (s *Store) TableIDs(ctx context.Context, tables []*driver.Table) ([]string, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	return s.tables.TableIDs(ctx, tables)
}

// Marks implements driver.Identifier.
func (s *Store) Marks(ctx context.Context, tables []*driver.Table) ([]string, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	return s.marks.Marks(ctx, tables)
}

// SetMark implements driver.Identifier.
func (s *Store) SetMark(ctx context.Context, t *driver.Table, mark string) (string, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	return s.marks.SetMark(ctx, t, mark)
}

// HoldsRows implements driver.Identifier. It is false where the credentials do not allow to look.
func (s *Store) HoldsRows(ctx context.Context, t *driver.Table) (bool, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return false, err
	}
	defer leave()
	return s.marks.HoldsRows(ctx, t)
}

// FoldedTables names the existing tables, in any generation, that a fold has written to. Only the Name of each of the
// tables counts.
func (s *Store) FoldedTables(ctx context.Context, tables []*driver.Table) ([]string, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	return s.marks.FoldedTables(ctx, tables)
}
