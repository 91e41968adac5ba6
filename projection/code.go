package projection

import (
	"fmt"
	"slices"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/delivery"
	"github.com/foldql/foldql/projection/internal/usercode"
)

// code calls the code of a Projection.
type code struct{ *Projection }

// codeOf calls the code of a projection, or of all members of a group.
func codeOf(p *Projection) delivery.Code {
	if len(p.members) == 0 {
		return code{p}
	}
	var g groupCode
	for _, one := range p.each() {
		g = append(g, code{one})
	}
	return g
}

// Wants reports whether the event may be the projection's, by what is known without user code.
func (p code) Wants(e *eventlog.Event) bool {
	if e.Malformed != nil {
		return p.mayTake(e)
	}
	return slices.Contains(p.Events, e.Type) && (p.EventSource == "" || p.EventSource == e.Source)
}

// Unknown says which version the data of the event are of, if the projection does not know it; nil where it does, and
// where there is none.
func (p code) Unknown(e *eventlog.Event) *eventlog.UnknownVersionError {
	version, err := e.DataVersion()
	if known := max(1, p.Versions[e.Type]); err == nil && e.Malformed == nil && version > known {
		return &eventlog.UnknownVersionError{Type: e.Type, Version: version, Known: known}
	}
	return nil
}

// tagged reports whether an event that the projection wants carries its tags.
func (p code) tagged(e *eventlog.Event) (_ bool, err error) {
	if len(p.Tags) == 0 {
		return true, nil
	}
	defer usercode.Recovered(&err)
	tags, err := p.TagsOf(e)
	if err != nil {
		return true, fmt.Errorf("read the tags: %w", err)
	}
	for _, want := range p.Tags {
		if !slices.Contains(tags, want) {
			return false, nil
		}
	}
	return true, nil
}

// Ops calls the user code about an event that the projection wants; others is set where its tags say that it is not the
// projection's. An error says why one that may be cannot be folded.
func (p code) Ops(e *eventlog.Event, attempts int) (others bool, ops []Op, err error) {
	if e.Malformed != nil {
		return false, nil, e.Malformed
	}
	if _, err := e.DataVersion(); err != nil {
		return false, nil, err
	}
	tagged, err := p.tagged(e)
	if !tagged || err != nil {
		return err == nil, nil, err
	}
	err = usercode.Attempt(attempts, nil, func() (err error) {
		ops, err = p.project(e)
		return err
	})
	return false, ops, err
}

// mayTake reports whether a malformed event could be the projection's: attributes that could not be read are empty.
func (p code) mayTake(e *eventlog.Event) bool {
	return (e.Type == "" || slices.Contains(p.Events, e.Type)) &&
		(e.Source == "" || p.EventSource == "" || e.Source == p.EventSource)
}

// project calls the projector; a panic is an error, so that one event cannot stop the others.
func (p code) project(e *eventlog.Event) (ops []Op, err error) {
	defer usercode.Recovered(&err)
	return p.Project(e, Meta{
		ID: e.ID, Source: e.Source, Type: e.Type, Subject: e.Subject,
		Time: e.Time, Partition: e.Partition, Offset: e.Offset,
	})
}
