package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/foldql/foldql/projection/internal/enums"
	"github.com/foldql/foldql/querydb"
)

// A Header keeps what the version of rows does not say of the program that folds them: a hash of its code, and what its
// enums may be.
//
// The hash is that of the code with which the rows were begun, and nobody writes another: of several processes with
// different programs each compares, and none undoes what another has put on record.

// codeDiffers reports whether the rows were begun by other code than the projection has, as far as both are known.
func (h *Header) codeDiffers(p Projection) bool {
	return h.Code != "" && p.Code != "" && h.Code != p.Code
}

// recordCode puts on record which code folds, where nothing says so: the rows are of a version of foldql that kept no
// hash, or of a program without one.
func recordCode(ctx context.Context, s *State, b Record) error {
	b.Code = s.p.Code
	note := b.note(b.slot, s.p.Name, b.revision)
	if err := s.db.Apply(ctx, querydb.Batch{Notes: []querydb.Note{note}}); err != nil {
		return fmt.Errorf("record which code folds the rows of %s: %w", s.p.names(), err)
	}
	return nil
}

// CodeChanged reports whether the rows that serve are of the form that the models have, and were begun by other code
// than the projection has.
func CodeChanged(ctx context.Context, db *querydb.DB, p Projection) (bool, error) {
	at, err := readLocation(ctx, db, p)
	return err == nil && at.good() && at.codeDiffers(p), err
}

// ErrCopying says that rows are being copied into those that are built, by a process that has on record how far it is.
var ErrCopying = errors.New("rows are being copied into those that are built: accept the code once all are copied")

// AcceptCode puts on record that the rows which have the form of the models, those that serve and those that are built,
// are those of the projection's code. It is ErrCopying while rows are copied into those that are built.
func AcceptCode(ctx context.Context, db *querydb.DB, p Projection) error {
	found, err := Look(ctx, db, []Projection{p})
	if err != nil {
		return err
	}
	var notes []querydb.Note
	for in, rows := range map[slot]*Rows{serves: found[0].Serving, builds: found[0].Building} {
		b, err := readRecordIn(ctx, db, in, p.Name)
		if err != nil {
			return err
		}
		if rows == nil || !rows.Own || b.former != nil || !b.codeDiffers(p) {
			continue
		}
		if b.Origin != nil {
			return fmt.Errorf("accept the code of %s: %w", p.names(), ErrCopying)
		}
		b.Code = p.Code
		notes = append(notes, b.note(in, p.Name, b.revision))
	}
	if len(notes) == 0 {
		return nil
	}
	if err := db.Apply(ctx, querydb.Batch{Notes: notes}); err != nil {
		return fmt.Errorf("record which code the rows of %s are accepted as those of: %w", p.names(), err)
	}
	return nil
}

// Enums get values without another version of the rows, so who folds them on, or rebuilds them, puts on record what
// they may be then, before the first of them is written. Who does not know all of that does not fold them, and has them
// read by their layout.

// compareEnums compares rows with the enums of the models, of the tables that have rows of the models' version.
func compareEnums(ctx context.Context, db *querydb.DB, at *location, p Projection) error {
	for i := range at.tables {
		t := &at.tables[i]
		if t.was.Version != t.model.Version || t.was.Table != t.model.Table {
			continue
		}
		known, err := enumsOf(ctx, db, &at.Header, p.recordName(t.model), t.model, t.was.Generation)
		if err != nil {
			return err
		}
		t.unlike = known.Unlike(t.model)
	}
	return nil
}

// unlikeRows compares rows that have the models' versions with the models' enums.
func unlikeRows(ctx context.Context, db *querydb.DB, h *Header, p Projection) (all enums.Difference, err error) {
	for i, m := range p.Models {
		known, err := enumsOf(ctx, db, h, p.recordName(m), m, h.tables()[i].Generation)
		if err != nil {
			return all, err
		}
		all = all.And(known.Unlike(m))
	}
	return all, nil
}

// changesEnums reports whether rows that the projection folds on may be what is not on record of them.
func (p Projection) changesEnums(h *Header) bool {
	return slices.ContainsFunc(p.Models, func(m *querydb.Model) bool {
		was := h.Enums[p.recordName(m)]
		return was == nil || !enums.Of(m).On(was).Equal(was)
	})
}

// recordEnums puts on record what the enums of rows may be that the projection folds on, in the same commit also in
// their layout, by which others read them.
func recordEnums(ctx context.Context, s *State, at *standing) error {
	b := at.Record
	b.Enums = map[string]enums.Fields{}
	var notes []querydb.Note
	for i, m := range s.p.Models {
		name, number := s.p.recordName(m), at.tables[i].serving.Number
		was, err := enumsOf(ctx, s.db, &at.Header, name, m, number)
		if err != nil {
			return err
		}
		b.Enums[name] = enums.Of(m).On(was)
		layout, err := s.db.Generations().Layout(ctx, m, number)
		if err != nil {
			return err
		}
		if layout != nil && layout.HasRows() && !layout.Covers(m) {
			notes = append(notes, m.LayoutNote(number))
		}
	}
	notes = append(notes, b.note(b.slot, s.p.Name, b.revision))
	if err := s.db.Apply(ctx, querydb.Batch{Notes: notes}); err != nil {
		return fmt.Errorf("record what the enums of rows of %s may be: %w", s.p.names(), err)
	}
	return nil
}

// enumsOf is what the enums of rows of a model may be in a generation of its table, by the Header or, where it does not
// say, since a version of foldql has written it that kept no record, by their layout; nil where that is not known.
func enumsOf(ctx context.Context, db *querydb.DB, h *Header, name string, m *querydb.Model, generation int) (
	enums.Fields, error) {
	if known := h.Enums[name]; known != nil {
		return known, nil
	}
	layout, err := db.Generations().Layout(ctx, m, generation)
	if err != nil || layout == nil || !layout.HasRows() {
		return nil, err
	}
	return enums.OfLayout(layout), nil
}

// enumsAfter are what the enums of rows of the projection may be that replace those that serve.
func enumsAfter(ctx context.Context, db *querydb.DB, p Projection, serving *Header) (map[string]enums.Fields, error) {
	all, recorded := map[string]enums.Fields{}, serving.tables()
	for i, m := range p.Models {
		name, was := p.recordName(m), p.recordOf(i, recorded)
		if all[name] = enums.Of(m); was.Version != m.Version || was.Table != m.Table {
			continue
		}
		former, err := enumsOf(ctx, db, serving, name, m, was.Generation)
		if err != nil {
			return nil, err
		}
		all[name] = all[name].After(former)
	}
	return all, nil
}
