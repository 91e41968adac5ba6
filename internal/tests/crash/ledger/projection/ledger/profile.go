package ledger

import (
	"github.com/foldql/foldql/internal/tests/crash/ledger/event"
	"github.com/foldql/foldql/internal/tests/crash/ledger/model"
	"github.com/foldql/foldql/internal/tests/crash/ledger/projection/ops"
	"github.com/foldql/foldql/projection"
)

// Profile is patched; the row need not be there.
type Profile struct{}

func (Profile) Opened(e event.Opened, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Profile.Set(model.Profile{Account: e.Account, Owner: &e.Owner})}
}

func (Profile) Described(e event.Described, _ projection.Meta) []projection.Op {
	f := ops.ProfileFields
	p := ops.Profile.Patch(e.Account)
	if e.Owner != nil {
		p = p.Set(f.Owner.Assign(*e.Owner))
	}
	if e.City != nil {
		p = p.Set(f.City.Assign(*e.City))
	}
	if e.Rank != nil {
		p = p.Set(f.Rank.Assign(*e.Rank))
	}
	for _, field := range e.Forget {
		switch field {
		case "owner":
			p = p.Clear(f.Owner)
		case "city":
			p = p.Clear(f.City)
		}
	}
	for _, field := range e.Remove {
		switch field {
		case "city":
			p = p.Remove(f.City)
		case "rank":
			p = p.Remove(f.Rank)
		}
	}
	return []projection.Op{
		p,
		ops.Profile.Upsert(e.Account, model.Profile{}, func(row *model.Profile) {
			n := 1
			if row.Changes != nil {
				n += *row.Changes
			}
			row.Changes = &n
		}),
	}
}

func (Profile) Closed(e event.Closed, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Profile.Delete(e.Account)}
}
