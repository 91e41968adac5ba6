// Package projection folds events into rows.
//
// A projector is a pure function from one event to ops; the engine reads a window of events, evaluates their ops in
// order on copies in memory, and writes each changed row once, in one commit with the checkpoint.
package projection

import (
	"fmt"
	"slices"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/fold"
	"github.com/foldql/foldql/projection/internal/usercode"
	"github.com/foldql/foldql/querydb"
)

// Meta is what a projector knows of an event beside its data.
type Meta struct {
	ID, Source, Type, Subject string
	Time                      time.Time
	Partition                 string
	Offset                    uint64
}

// Projection is a projector ready to run: which events it takes, and how one becomes ops. Projections are made by the
// generated Project functions.
type Projection struct {
	Name   string // of the projector; checkpoints are kept under it
	Model  *querydb.Model
	Events []string // types it takes
	Stream string   // CloudEvents source it takes events of, "" for any
	Tags   []string // tags that an event must all carry
	// TagsOf returns the tags of an event; needed where Tags is not empty.
	TagsOf func(e *eventlog.Event) ([]string, error)
	// Project decodes the event and hands it to the projector.
	Project func(e *eventlog.Event, m Meta) ([]Op, error)

	rows fold.Model // of Model
}

// New makes a Projection out of a model's ops and a function that decodes and projects; generated code calls it.
func New[R, K, P any](ops *Ops[R, K, P], p Projection) Projection {
	p.Model = ops.Codec.Model
	p.rows = fold.ModelOf(ops.Codec, fold.WriterOf(p.Model, p.Name))
	return p
}

// newFold makes a fold of the projection's rows.
func (p *Projection) newFold(db *querydb.DB, cfg *RunnerConfig) *fold.Fold {
	return fold.New(db, fold.Limits{RowBytes: cfg.MaxRowBytes, Readers: cfg.Readers}, p.rows)
}

// writer is the name under which the rows are written: its own where it is one of several projections that write them.
func (p *Projection) writer() string {
	if len(p.Model.Writers) == 0 {
		return ""
	}
	return p.Name
}

// validate names what a Projection lacks.
func (p *Projection) validate() error {
	switch {
	case p.Name == "":
		return fmt.Errorf("projection without a name: set Projection.Name, its checkpoint is kept under it")
	case p.Model == nil:
		return fmt.Errorf("projection %s: make it with projection.New", p.Name)
	case p.Project == nil:
		return fmt.Errorf("projection %s: Project is missing", p.Name)
	case len(p.Model.Writers) > 0 && fold.WriterOf(p.Model, p.Name) == nil:
		return fmt.Errorf("projection %s is none of those that write rows of %s: name it in the schema", p.Name, p.Model.Name)
	case len(p.Tags) > 0 && p.TagsOf == nil:
		return fmt.Errorf("projection %s filters by tags: TagsOf is missing", p.Name)
	}
	return nil
}

// wants reports whether the event may be the projection's, by what is known without user code.
func (p *Projection) wants(e *eventlog.Event) bool {
	if e.Malformed != nil {
		return p.mayTake(e)
	}
	return slices.Contains(p.Events, e.Type) && (p.Stream == "" || p.Stream == e.Source)
}

// tagged reports whether an event that the projection wants carries its tags.
func (p *Projection) tagged(e *eventlog.Event) (_ bool, err error) {
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

// opsOf calls the user code about an event that the projection wants; others is set where its tags say that it is not the
// projection's. An error says why one that may be cannot be folded.
func (p *Projection) opsOf(e *eventlog.Event, attempts int) (others bool, ops []Op, err error) {
	if e.Malformed != nil {
		return false, nil, e.Malformed
	}
	tagged, err := p.tagged(e)
	if !tagged || err != nil {
		return err == nil, nil, err
	}
	err = attempt(attempts, func() (err error) {
		ops, err = p.project(e)
		return err
	})
	return false, ops, err
}

// mayTake reports whether a malformed event could be the projection's: attributes that could not be read are empty.
func (p *Projection) mayTake(e *eventlog.Event) bool {
	return (e.Type == "" || slices.Contains(p.Events, e.Type)) &&
		(e.Source == "" || p.Stream == "" || e.Source == p.Stream)
}

// project calls the projector; a panic is an error, so that one event cannot stop the others.
func (p *Projection) project(e *eventlog.Event) (ops []Op, err error) {
	defer usercode.Recovered(&err)
	return p.Project(e, Meta{
		ID: e.ID, Source: e.Source, Type: e.Type, Subject: e.Subject,
		Time: e.Time, Partition: e.Partition, Offset: e.Offset,
	})
}
