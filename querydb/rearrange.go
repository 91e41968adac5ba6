package querydb

import (
	"cmp"
	"context"
	"slices"

	"github.com/foldql/foldql/querydb/internal/generation"
)

// Rearrangement changes which generations of tables serve, are being built, and are kept.
type Rearrangement = generation.Rearrangement

// The rearrangements.
const (
	// SwitchToBuilt has the generation serve that is being built. The one that served is kept as the former one, and the
	// one that was kept before is dropped.
	SwitchToBuilt = generation.SwitchToBuilt
	// SwitchBack has the former generation serve. The one that served counts as one that is being built, and one that was
	// being built is dropped.
	SwitchBack = generation.SwitchBack
	// ResumeFormer has the former generation count as one that is being built, in place of one that was.
	ResumeFormer = generation.ResumeFormer
	// DropBuilt drops the generation that is being built.
	DropBuilt = generation.DropBuilt
	// DropFormer drops the former generation.
	DropFormer = generation.DropFormer
)

// Rearrange changes, in one commit with the notes, the generations of the models' tables, as Recorded has told them. Of
// models that share a table one is to be named. If they are others by now, it returns ErrStale; where one lacks the
// generation that is asked for, ErrConflict. It does not change which generations this DB reads and writes: see UseAll.
func (g *Generations) Rearrange(ctx context.Context, how Rearrangement, all []Successor, notes []Note) error {
	var first, last []Note
	dropped := make([]*generation.Numbered, len(all))
	// Of a table that has been taken along since, there may be nothing to drop.
	lacking := func(s Successor) bool { return how.Drops() && !s.Former.all().Has(how) }
	passes := !slices.ContainsFunc(all, func(s Successor) bool { return !lacking(s) })
	for i, s := range all {
		table, now := s.Model.Table, s.Former.all()
		if lacking(s) && !passes {
			continue
		}
		next, err := now.After(how, cmp.Or(s.Dropped, s.Model.Version), g.cfg.Now())
		if err != nil {
			return &Error{Op: string(how), Model: s.Model.Name, Err: err}
		}
		first = append(first, besideNote(table, next.Beside, s.Former.besides))
		serving := servingNote(table, next.Serving.Number, next.Serving.Version, s.Former.revision)
		serving.CheckOnly = next.Serving == now.Serving
		first = append(first, serving)
		if dropped[i] = now.Without(next); dropped[i] != nil {
			last = append(last, dropNote(s.Model.DriverTable(dropped[i].Number)))
		}
	}
	if err := g.notes.write(ctx, slices.Concat(first, notes, last)...); err != nil {
		return &Error{Op: string(how), Model: all[0].Model.Name, Err: err}
	}
	for i, s := range all {
		if dropped[i] != nil {
			g.api.remove(s.Model.Table, dropped[i].Number)
			g.physical.drop(s.Model.DriverTable(dropped[i].Number))
		}
	}
	return nil
}

func besideNote(table string, b generation.Beside, revision uint64) Note {
	return Note{Kind: generation.KindBeside, ID: table, Value: b.Format(), IfRevision: true, Revision: revision}
}
