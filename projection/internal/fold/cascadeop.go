package fold

import (
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection/internal/cascade"
	"github.com/foldql/foldql/querydb"
)

// Cascade says how copies follow one change of their row, in place of what the schema says.
type Cascade struct {
	// Targets are the models of the rows whose copies follow; none are all that have references with a cascade.
	Targets []string
	// Filter says what fields of those rows hold, by their names: values of the scalar or enum of each.
	Filter map[string]any
	// Mode is whether they follow after the commit of the change or in it.
	Mode CascadeMode
}

// CascadeMode is when copies follow a change.
type CascadeMode uint8

// The modes of a Cascade.
const (
	Eventual      CascadeMode = iota // after the commit of the change
	Transactional                    // in the commit of the change
	none
)

// RowOp is an Op that changes a row, of which other rows may hold copies.
type RowOp interface {
	Op
	// Cascade says how copies follow this change, in place of what the schema says. It is an error where no reference to
	// the row keeps on record who holds copies. Where other ops of the event change the row as well, the copies follow
	// that any of them has follow, by the schema for one that says nothing.
	Cascade(how Cascade) Op
	// NoCascade has no copy follow this change; those that are filled in later are of the row as it is then.
	NoCascade() Op
}

// cascadeOp is an op with a Cascade of its own.
type cascadeOp struct {
	change
	how Cascade
}

func (o *cascadeOp) eval(m *modelFold, at ApplyPoint) error {
	of := m.views.ofAll().followers
	if err := of.check(&o.how); err != nil {
		return err
	}
	of.how = &o.how
	defer func() { of.how = nil }()
	return o.change.eval(m, at)
}

func (o *setOp) Cascade(how Cascade) Op { return &cascadeOp{o, how} }

func (o *setOp) NoCascade() Op { return o.Cascade(Cascade{Mode: none}) }

func (o *createOp) Cascade(how Cascade) Op { return &cascadeOp{o, how} }

func (o *createOp) NoCascade() Op { return o.Cascade(Cascade{Mode: none}) }

func (o *updateOp) Cascade(how Cascade) Op { return &cascadeOp{o, how} }

func (o *updateOp) NoCascade() Op { return o.Cascade(Cascade{Mode: none}) }

func (o *deleteOp) Cascade(how Cascade) Op { return &cascadeOp{o, how} }

func (o *deleteOp) NoCascade() Op { return o.Cascade(Cascade{Mode: none}) }

func (o *appendOp) Cascade(how Cascade) Op { return &cascadeOp{o, how} }

func (o *appendOp) NoCascade() Op { return o.Cascade(Cascade{Mode: none}) }

// WithCascade is a Patch with a Cascade.
func WithCascade(p *Patch, how Cascade) Op { return &cascadeOp{p, how} }

// WithoutCascade is a Patch that no copy follows.
func WithoutCascade(p *Patch) Op { return WithCascade(p, Cascade{Mode: none}) }

// followRule is which copies follow what the event in hand has made of a row: those that any of its ops has follow.
type followRule struct {
	schema     bool            // an op leaves it to the schema
	after, now []cascade.Scope // what ops have asked for: after the commit, and in it
}

// bySchema reports whether no op has asked for copies that do not follow by the schema.
func (r *followRule) bySchema() bool { return r.schema && r.after == nil && r.now == nil }

// followsAfter reports whether copies follow after the commit; copied says that some do so by the schema.
func (r *followRule) followsAfter(copied bool) bool { return copied && r.schema || r.after != nil }

// asksNow reports whether an op has asked for copies in the row to follow in the commit.
func (r *followRule) asksNow(codec querydb.AnyCodec, row any) bool {
	return slices.ContainsFunc(r.now, func(s cascade.Scope) bool {
		return s.Names(codec.Model.Name) && cascade.Matches(codec, row, s.Filter)
	})
}

// begin forgets the ops of the last event.
func (ws *followers) begin() {
	if len(ws.rules) > keptJournal {
		ws.rules = map[keys.Key]followRule{}
	}
	clear(ws.rules)
}

// noteRule notes what the op in hand, which changes the row, says of its copies.
func (ws *followers) noteRule(row keys.Key) {
	if len(ws.by) == 0 {
		return
	}
	rule := ws.rules[row]
	switch {
	case ws.how == nil:
		rule.schema = true
	case ws.how.Mode == Eventual:
		rule.after = cascade.Union(rule.after, ws.how.scope())
	case ws.how.Mode == Transactional:
		rule.now = cascade.Union(rule.now, ws.how.scope())
	}
	ws.rules[row] = rule
}

func (c *Cascade) scope() []cascade.Scope {
	return []cascade.Scope{{Asked: true, Targets: c.Targets, Filter: cascade.PlainFilter(c.Filter)}}
}

// announceTo notes which copies are to follow after the commit.
func (e *entry) announceTo(rule *followRule) {
	switch {
	case len(e.scopes) == 0 && rule.bySchema():
		e.scopes = bySchema
	case rule.schema:
		e.scopes = cascade.Union(cascade.Union(e.scopes, bySchema), rule.after)
	default:
		e.scopes = cascade.Union(e.scopes, rule.after)
	}
}

var bySchema = []cascade.Scope{{}}
