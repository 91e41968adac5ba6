package ledger

import (
	"fmt"

	"github.com/foldql/foldql/internal/tests/crash/ledger/event"
	"github.com/foldql/foldql/internal/tests/crash/ledger/model"
	"github.com/foldql/foldql/internal/tests/crash/ledger/projection/ops"
	"github.com/foldql/foldql/projection"
)

// Contact writes what is said of an account into its standing.
type Contact struct{}

func (Contact) Opened(e event.Opened, _ projection.Meta) []projection.Op {
	f := ops.StandingFields.Contact
	return []projection.Op{ops.Standing.Patch(e.Account).Set(f.Owner.Assign(e.Owner))}
}

func (Contact) Described(e event.Described, _ projection.Meta) []projection.Op {
	f := ops.StandingFields.Contact
	p := ops.Standing.Patch(e.Account)
	if e.Owner != nil {
		p = p.Set(f.Owner.Assign(*e.Owner))
	}
	if e.City != nil {
		p = p.Set(f.City.Assign(*e.City))
	}
	for _, field := range e.Forget {
		if field == "city" {
			p = p.Clear(f.City)
		}
	}
	for _, field := range e.Remove {
		if field == "city" {
			p = p.Remove(f.City)
		}
	}
	return []projection.Op{p}
}

func (Contact) Closed(e event.Closed, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Standing.Delete(e.Account)}
}

// Worth writes what an account is worth into its standing. It counts, so that an event that comes twice shows.
type Worth struct{}

func (Worth) Deposited(e event.Deposited, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Standing.Upsert(e.Account, model.Standing{}, func(s *model.Standing) {
		n := 1
		if s.Deposits != nil {
			n += *s.Deposits
		}
		band := fmt.Sprint("band ", n/3)
		s.Deposits, s.Band = &n, &band
	})}
}

func (Worth) Held(e event.Held, _ projection.Meta) []projection.Op {
	f := ops.StandingFields.Worth
	return []projection.Op{ops.Standing.Patch(e.Account).Clear(f.Band)}
}

func (Worth) Purged(e event.Purged, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Standing.Delete(e.Account)}
}

// Mark keeps holds, no two of which may have one mark.
type Mark struct{}

func (Mark) Held(e event.Held, _ projection.Meta) []projection.Op {
	mark := fmt.Sprintf("%s at %d", e.Account, e.Level%4)
	return []projection.Op{ops.Mark.Set(model.Mark{Account: e.Account, Hold: e.Hold, Mark: mark, City: &e.Hold})}
}

func (Mark) Released(e event.Released, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Mark.Delete(model.MarkKey{Account: e.Account, Hold: e.Hold})}
}
