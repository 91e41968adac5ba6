package projection

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/fold"
	"github.com/foldql/foldql/querydb"
)

// Group returns the projections as they are to be run: those whose models are connected by references become one, so
// that an event sees the rows which earlier events have made in all of their models. A group has the names of its
// members, joined by "+", and one checkpoint. Projections without references stay as they are.
func Group(all []Projection) []Projection {
	groups := parted(all, connected)
	grouped, program := make([]Projection, len(groups)), map[string][]*querydb.Model{}
	for i, members := range groups {
		grouped[i] = groupOf(members)
		grouped[i].program, program[grouped[i].Name] = program, grouped[i].Models()
	}
	return grouped
}

// connected reports whether rows of one of the projections hold copies of the other's.
func connected(p, q *Projection) bool {
	return slices.Contains(p.rows.Sources, q.Model) || slices.Contains(q.rows.Sources, p.Model)
}

func groupOf(members []Projection) Projection {
	if len(members) == 1 {
		return members[0]
	}
	slices.SortFunc(members, func(a, b Projection) int { return strings.Compare(a.Name, b.Name) })
	names := make([]string, len(members))
	for i := range members {
		names[i] = members[i].Name
	}
	return Projection{Name: strings.Join(names, "+"), members: members}
}

// each are the members of a group, and the projection itself where it is none.
func (p *Projection) each() []*Projection {
	if len(p.members) == 0 {
		return []*Projection{p}
	}
	all := make([]*Projection, len(p.members))
	for i := range p.members {
		all[i] = &p.members[i]
	}
	return all
}

// Models returns the models whose rows the projection folds: one, with that of its history where it is a time series,
// or those of all members of a group.
func (p *Projection) Models() []*querydb.Model {
	var all []*querydb.Model
	for _, m := range p.folds() {
		all = append(all, m.Model)
	}
	return all
}

// Members returns the names of the projections that a group consists of: its own where it is none.
func (p *Projection) Members() []string {
	var all []string
	for _, one := range p.each() {
		all = append(all, one.Name)
	}
	return all
}

func (p *Projection) modelNames() []string {
	var all []string
	for _, m := range p.Models() {
		all = append(all, m.Name)
	}
	return all
}

// folds are the models as the fold sees them. A group folds what all projections write that write rows of a model.
func (p *Projection) folds() []fold.Model {
	var all []fold.Model
	add := func(m fold.Model) {
		if len(p.members) > 0 {
			m = m.Whole()
		}
		if !slices.ContainsFunc(all, func(o fold.Model) bool { return o.Model == m.Model }) {
			all = append(all, m)
		}
	}
	for _, one := range p.each() {
		add(one.rows)
		if one.history != nil {
			add(*one.history)
		}
	}
	return all
}

// runGroup is the fix where a projection is run without others that it needs.
const runGroup = "run what projection.Group makes of all projections; in a test, use projectiontest.RunGroup"

// validateReferences names what a projection lacks to fold the copies that rows hold.
func (p *Projection) validateReferences() error {
	models := p.Models()
	names := p.Members()
	for _, one := range p.each() {
		for _, source := range one.rows.Sources {
			if !slices.Contains(models, source) {
				return fmt.Errorf("projection %s: rows of %s hold copies of %s, which it does not fold: %s", p.Name,
					one.Model.Name, source.Name, runGroup)
			}
		}
		if len(p.members) == 0 && len(one.rows.Sources) == 0 {
			continue
		}
		for _, w := range one.Model.Writers {
			if !slices.Contains(names, w.Name) {
				return fmt.Errorf("projection %s: %s writes rows of %s too, which hold copies of other rows or are copied: %s",
					p.Name, w.Name, one.Model.Name, runGroup)
			}
		}
	}
	return nil
}

// groupCode calls the code of the members of a group.
type groupCode []code

// Wants reports whether the event may be a member's.
func (g groupCode) Wants(e *eventlog.Event) bool {
	return slices.ContainsFunc(g, func(c code) bool { return c.Wants(e) })
}

// Unknown says which version the data of the event are of, if a member that wants it does not know it.
func (g groupCode) Unknown(e *eventlog.Event) *eventlog.UnknownVersionError {
	for _, c := range g {
		if unknown := c.Unknown(e); unknown != nil && c.Wants(e) {
			return unknown
		}
	}
	return nil
}

// Ops calls the user code of each member that wants the event; others is set where it is none of theirs.
func (g groupCode) Ops(e *eventlog.Event, attempts int) (others bool, ops []Op, err error) {
	others = true
	for _, c := range g {
		if !c.Wants(e) {
			continue
		}
		notIts, own, err := c.Ops(e, attempts)
		if err != nil {
			return false, nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		others = others && notIts
		for _, op := range own {
			ops = append(ops, fold.By(c.Name, op))
		}
	}
	return others, ops, nil
}
