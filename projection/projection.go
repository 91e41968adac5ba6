package projection

import (
	"fmt"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/fold"
	"github.com/foldql/foldql/querydb"
)

// Meta is what a projector knows of an event besides its data.
type Meta struct {
	ID, Source, Type, Subject string
	Time                      time.Time
	Partition                 string
	Offset                    uint64
}

// Projection is a projector ready to run: which events it takes, and how one becomes ops; or a group of such, as
// [Group] makes it. Projections are made by the generated Project functions.
type Projection struct {
	Name        string         // of the projector; checkpoints are kept under it
	Model       *querydb.Model // nil for a group: see Models
	Events      []string       // types it takes
	Versions    map[string]int // last version of the data of each type that it knows, by type; 1 for others
	EventSource string         // CloudEvents source it takes events of, "" for any
	Tags        []string       // tags that an event must all carry
	// TagsOf returns the tags of an event; needed where Tags is not empty.
	TagsOf func(e *eventlog.Event) ([]string, error)
	// Project decodes the event and hands it to the projector.
	Project func(e *eventlog.Event, m Meta) ([]Op, error)
	// Code are the projector and its upcasters: of the packages of their types a hash is kept beside the rows, where
	// generated code has registered what those were compiled from. See package sourcehash.
	Code []any

	rows    fold.Model  // of Model
	history *fold.Model // that of a time series, to which the projector appends; nil where there is none
	members []Projection
	program map[string][]*querydb.Model // by the names of all projections that it was grouped with: see Group
}

// New makes a Projection out of a model's ops and a function that decodes and projects; generated code calls it.
func New[R, K, P any](ops *Ops[R, K, P], p Projection) Projection {
	p.Model = ops.Codec.Model
	p.rows = fold.ModelOf(querydb.Any(ops.Codec), fold.WriterOf(p.Model, p.Name))
	return p
}

// validate names what a Projection lacks.
func (p *Projection) validate() error {
	for _, one := range p.each() {
		if err := one.validateMember(); err != nil {
			return err
		}
	}
	return p.validateReferences()
}

// validateMember names what a Projection that is no group lacks.
func (p *Projection) validateMember() error {
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
