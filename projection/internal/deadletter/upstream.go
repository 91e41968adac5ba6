package deadletter

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/foldql/foldql/projection/internal/position"
)

// Verdict is what was decided, apart from where the event stands.
type Verdict struct {
	Skip   bool   `json:"skip,omitempty"`
	Moment uint64 `json:"moment,omitempty"`
	Seq    int    `json:"seq,omitempty"`
	Failed string `json:"failed,omitempty"`
}

// verdict is that of the decision.
func (p *Decision) verdict() Verdict {
	return Verdict{Skip: p.Skip, Moment: p.Moment, Seq: p.Seq, Failed: p.Failed}
}

// done is as Decision.Done.
func (v *Verdict) done() position.Cursor {
	return position.Cursor{Offset: v.Moment, Replayed: v.Seq + 1}
}

// Upstream is a decision that a server has on record, as it gives that to servers that fold the same log. It says
// nothing of generations of rows: those are each server's own.
type Upstream struct {
	Partition string `json:"partition"`
	Offset    uint64 `json:"offset"`
	Verdict
	Event *position.Anchor `json:"event,omitempty"`
	After *position.Anchor `json:"after,omitempty"`
	// Subject is that of the event, which the log says and not the other server.
	Subject string `json:"-"`
}

// AsUpstream is the decision as others get it.
func (p *Decision) AsUpstream() Upstream {
	return Upstream{Partition: p.Partition, Offset: p.Offset, Verdict: p.verdict(), Event: p.Event, After: p.After}
}

// Ref is where the event stands.
func (u *Upstream) Ref() position.Ref { return position.Ref{Partition: u.Partition, Offset: u.Offset} }

// Bounds of what another server says.
const (
	mostUpstreamBytes = 64 << 10
	mostSeq           = 1 << 30
	mostVersionBytes  = 1 << 10
)

// ParseUpstream reads a decision that another server has given, and checks what can be checked without the log.
func ParseUpstream(text []byte) (u Upstream, err error) {
	if len(text) > mostUpstreamBytes {
		return u, fmt.Errorf("a decision has %d bytes, and may have %d", len(text), mostUpstreamBytes)
	}
	if err := json.Unmarshal(text, &u); err != nil {
		return u, fmt.Errorf("read a decision: %w", err)
	}
	if err := u.check(); err != nil {
		return u, fmt.Errorf("a decision about event %.100q: %w", u.Ref(), err)
	}
	return u, nil
}

func (u *Upstream) check() error {
	switch {
	case u.Partition == "" || u.Offset == 0:
		return errors.New("it names no event")
	case u.Skip && (u.Moment != 0 || u.Seq != 0 || u.Failed != "" || u.After != nil):
		return errors.New("it skips the event and tries it too")
	case !u.Skip && u.Moment < u.Offset:
		return errors.New("it tries the event before that has come")
	case u.Seq < 0 || u.Seq > mostSeq || len(u.Failed) > mostVersionBytes:
		return errors.New("it is out of bounds")
	case u.Event != nil && u.Event.Offset != u.Offset || u.After != nil && u.After.Offset != u.Moment:
		return errors.New("it is about two events")
	}
	return nil
}

// Stands reports whether what is on record of the event stays, whatever the other server says now: that is on record
// already, or was decided here since. A retry that has failed here decides nothing, so a later decision of the other
// server follows it.
func (u *Upstream) Stands(old *Decision) bool {
	was := old.verdict()
	switch {
	case old.Upstream != nil:
		return *old.Upstream == u.Verdict
	case was == u.Verdict || old.Failed == "":
		return true
	}
	return u.Failed != "" || !u.Skip && u.done().Before(was.done())
}

// IsAsRecorded reports whether nobody has decided otherwise since the decision was read, where now is what is on
// record.
func (p *Decision) IsAsRecorded(now *Decision) bool {
	return p.same(*now) && (p.Upstream == nil) == (now.Upstream == nil)
}

// Rows are those of one generation, and how far they have come.
type Rows struct {
	Generation int
	Version    string                     // of the projection that folds them
	Done       map[string]position.Cursor // by partition
	// Before reports whether no row shows the event yet, nor does before a decision about it is on record.
	Before func(position.Ref) bool
}

// Awaited reports whether some of the rows are to try the event where a former decision has it. Another must not take
// its place before: they would try the event twice, or never.
func (p *Decision) Awaited(all []Rows) bool {
	return slices.ContainsFunc(all, func(r Rows) bool {
		return !slices.Contains(p.Beside, r.Generation) && p.IsFor(r.Version) && p.Waits(r.Done[p.Partition]) &&
			!r.Before(p.Ref)
	})
}

// Decision is what is put on record where these rows are there: rows that are begun later do as the other server's do,
// and so do those that have not come to the event. Others may have folded it by themselves.
func (u *Upstream) Decision(all []Rows) Decision {
	v := u.Verdict
	d := Decision{
		Ref: u.Ref(), Subject: u.Subject, Skip: u.Skip, Moment: u.Moment, Seq: u.Seq, Failed: u.Failed, Upstream: &v,
		Event: u.Event, After: u.After,
	}
	for i := range all {
		if !all[i].Before(d.Ref) {
			d.Beside = append(d.Beside, all[i].Generation)
		}
	}
	slices.Sort(d.Beside)
	return d
}
