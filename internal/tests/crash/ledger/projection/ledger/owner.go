package ledger

import (
	"github.com/foldql/foldql/internal/tests/crash/ledger/event"
	"github.com/foldql/foldql/internal/tests/crash/ledger/model"
	"github.com/foldql/foldql/internal/tests/crash/ledger/projection/ops"
	"github.com/foldql/foldql/projection"
)

// Owner keeps people of whom other rows hold copies, as long as they are there.
type Owner struct{}

func (Owner) OwnerNamed(e event.OwnerNamed, _ projection.Meta) []projection.Op {
	rename := func(o *model.Owner) { o.Name = e.Name }
	return []projection.Op{ops.Owner.Upsert(e.Owner, model.Owner{}, rename)}
}

func (Owner) OwnerGone(e event.OwnerGone, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Owner.Delete(e.Owner)}
}

// Branch keeps branches, which stay.
type Branch struct{}

func (Branch) BranchNamed(e event.BranchNamed, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Branch.Set(model.Branch{ID: e.Branch, Name: e.Name, HeadID: e.Head})}
}
