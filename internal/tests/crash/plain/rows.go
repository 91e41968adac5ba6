package plain

import (
	"errors"
	"slices"

	"github.com/foldql/foldql/internal/tests/crash/ledger/model"
	"github.com/foldql/foldql/internal/tests/crash/verifier"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
)

// rows are all rows that there ever were, with the copies that follow as they must be in the end, and how many links
// lead to each.
func (s *state) rows() ([]verifier.PlainRow, error) {
	l := list{of: s}
	for id, o := range s.owners {
		add(&l, model.OwnerCodec, id, model.Owner{ID: id}, o, 0)
	}
	for id, b := range s.branches {
		b.Head = s.owner(b.HeadID)
		add(&l, model.BranchCodec, id, model.Branch{ID: id}, b, given(b.HeadID))
	}
	for id, c := range s.cards {
		links := 0
		if c != nil {
			c.Holder, c.Branch = s.owner(c.HolderID), s.branch(c.BranchID)
			links = 1 + given(c.HolderID, c.SealID)
		}
		add(&l, model.CardCodec, id, model.Card{Card: id}, c, links)
	}
	for id, p := range s.passes {
		links := 0
		if p != nil && p.BranchID != nil {
			branch := s.branch(*p.BranchID)
			p.Branch, links = branch, 1
		}
		add(&l, model.PassCodec, id, model.Pass{Card: id}, p, links)
	}
	for id, t := range s.tariffs {
		add(&l, model.TariffCodec, id, model.Tariff{ID: id}, t, 0)
	}
	for id, p := range s.plans {
		links := 0
		if p != nil {
			links = 1 + given(p.SpareID)
		}
		add(&l, model.PlanCodec, id, model.Plan{Plan: id}, p, links)
	}
	for id, t := range s.terminals {
		row := terminalRow(id, t, s.owner(t.keeper))
		add(&l, model.TerminalCodec, id, model.Terminal{Terminal: id}, row, given(t.keeper))
		l.addHistory(id, t)
	}
	for id, h := range s.homes {
		links := 0
		if h != nil {
			h.Branch, h.Head = s.branch(h.BranchID), s.owner(h.HeadID)
			links = 1 + given(h.HeadID) + s.holders(h) + boxFold{s}.sponsors(h)
		}
		add(&l, model.HomeCodec, id, model.Home{ID: id}, h, links)
	}
	return l.rows, l.err
}

// holders gives the keys of a home the copies of those who hold them, and says how many these are.
func (s *state) holders(h *model.Home) int {
	var ids []string
	for i := range h.Safe.Keys {
		k := &h.Safe.Keys[i]
		k.Holder = s.owner(k.HolderID)
		if k.HolderID != nil && !slices.Contains(ids, *k.HolderID) {
			ids = append(ids, *k.HolderID)
		}
	}
	return len(ids)
}

// owner is a copy of the owner as it is in the end; nil where there is none.
func (s *state) owner(id *string) *model.OwnerCopy {
	if id == nil || s.owners[*id] == nil {
		return nil
	}
	return &model.OwnerCopy{ID: *id, Name: s.owners[*id].Name}
}

// branch is a copy of the branch as it is in the end. It stays once it is there.
func (s *state) branch(id string) *model.BranchCopy {
	b := s.branches[id]
	return &model.BranchCopy{ID: b.ID, Name: b.Name, HeadID: b.HeadID}
}

// given is how many of the identifiers there are.
func given(ids ...*string) (n int) {
	for _, id := range ids {
		if id != nil {
			n++
		}
	}
	return n
}

// list is the rows so far, and why there can be no more.
type list struct {
	of   *state
	rows []verifier.PlainRow
	err  error
}

// add adds a row, or that there is none under the key of the blank one.
func add[R any](l *list, codec *querydb.Codec[R], id string, blank R, row *R, links int) {
	p := verifier.PlainRow{Model: codec.Model, ID: id, Links: links, Versions: l.of.versions[codec.Model][id]}
	var err error
	if row != nil {
		p.Row, err = querydb.Encode(codec, &record.Builder{}, row)
	} else {
		p.Row.Key, err = querydb.KeyOf(codec, &blank)
	}
	l.rows = append(l.rows, p)
	l.err = errors.Join(l.err, err)
}

// addHistory adds what a terminal has read, all under its identifier.
func (l *list) addHistory(terminal string, t *terminal) {
	for id, r := range t.history {
		row := &r.row
		if r.gone {
			row = nil
		}
		add(l, model.TerminalEventCodec, id, r.row, row, 0)
		l.rows[len(l.rows)-1].ID = terminal
	}
}
