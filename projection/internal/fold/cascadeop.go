package fold

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

func (o *cascadeOp) eval(f *modelFold, at ApplyPoint) error {
	of := f.views.ofAll().followers
	if err := of.check(&o.how); err != nil {
		return err
	}
	of.how = &o.how
	defer func() { of.how = nil }()
	return o.change.eval(f, at)
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
