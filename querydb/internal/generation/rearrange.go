package generation

import (
	"fmt"
	"time"

	"github.com/foldql/foldql/querydb/driver"
)

// Rearrangement changes which generations of tables serve, are being built, and are kept: see querydb.Rearrangement.
type Rearrangement string

// The rearrangements.
const (
	SwitchToBuilt Rearrangement = "switch to the generation that was built"
	SwitchBack    Rearrangement = "switch back to the former generation"
	ResumeFormer  Rearrangement = "build the former generation further"
	DropBuilt     Rearrangement = "drop the generation that is being built"
	DropFormer    Rearrangement = "drop the former generation"
)

// Drops reports whether it drops a generation, and changes nothing else.
func (r Rearrangement) Drops() bool { return r == DropBuilt || r == DropFormer }

// All are the generations of a table.
type All struct {
	Serving Numbered // its number is [None] where none serves
	Beside  Beside
}

// Has reports whether there is the generation that the rearrangement is about.
func (a All) Has(how Rearrangement) bool { return a.needed(how) != nil }

// needed is the generation that the rearrangement is about; nil where there is none.
func (a All) needed(how Rearrangement) *Numbered {
	if how == SwitchToBuilt || how == DropBuilt {
		return a.Beside.Building
	}
	if former := a.Beside.Former; former != nil && (how != ResumeFormer || former.Number != None) {
		return former
	}
	return nil
}

// After returns those that there are after the rearrangement. The version is that of the model whose build is dropped,
// where one is.
func (a All) After(how Rearrangement, version string, now time.Time) (All, error) {
	next := a
	next.Beside.Last = max(a.Beside.Last, a.Serving.Number)
	needed := a.needed(how)
	if needed == nil {
		return a, fmt.Errorf("%w: there is no such generation", driver.ErrConflict)
	}
	plain := Numbered{Number: needed.Number, Version: needed.Version}
	switch how {
	case SwitchToBuilt:
		next.Serving = plain
		next.Beside.Building = nil
		next.Beside.Former = &Numbered{Number: a.Serving.Number, Version: a.Serving.Version, Since: now.UTC()}
	case SwitchBack:
		next.Serving = plain
		next.Beside.Building = &Numbered{Number: a.Serving.Number, Version: a.Serving.Version, Held: true}
		next.Beside.Former = nil
	case ResumeFormer:
		next.Beside.Building, next.Beside.Former, next.Beside.Aborted = &plain, nil, ""
	case DropBuilt:
		next.Beside.Building, next.Beside.Aborted = nil, version
	case DropFormer:
		next.Beside.Former = nil
	}
	return next, nil
}

// Without returns the generation that there no longer is; nil where all are left.
func (a All) Without(next All) *Numbered {
	kept := map[int]bool{next.Serving.Number: true}
	for _, n := range []*Numbered{next.Beside.Building, next.Beside.Former} {
		if n != nil {
			kept[n.Number] = true
		}
	}
	for _, n := range []*Numbered{a.Beside.Building, a.Beside.Former} {
		if n != nil && n.Number != None && !kept[n.Number] {
			return n
		}
	}
	return nil
}
