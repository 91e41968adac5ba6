package fold

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection/internal/cascade"
	"github.com/foldql/foldql/projection/internal/recopy"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// A row that refers to rows of other models holds copies of them. A projector gives their identifiers, and the copies
// are filled in here, after the ops of the event: so an event may bring a row and one that refers to it in any order.
// Functions of users see no copies, so that nothing that is folded depends on how old one is. A copy stays as it is as
// long as the row keeps the identifier; a row that is written anew gets new ones, and a patch that gives an identifier,
// be it the same, has that one filled in again.

// RefNotFoundError is of an event that makes a row refer to one that is not there, and may come.
type RefNotFoundError struct {
	Model    string   `json:"model"` // whose row is to hold the copy
	Field    string   `json:"field"`
	RefModel string   `json:"refModel"` // whose row is not there
	RefID    string   `json:"refId"`
	Key      keys.Key `json:"-"` // of that row
}

// Error implements error.
func (e *RefNotFoundError) Error() string {
	return fmt.Sprintf("fill in %s of %s: there is no %s with the identifier %q; an event that makes it must come first",
		e.Field, e.Model, e.RefModel, e.RefID)
}

// Is makes the error one of ErrNoRow.
func (e *RefNotFoundError) Is(target error) bool { return target == ErrNoRow }

// errDeletedHere is of a row that the event deletes which refers to it.
var errDeletedHere = errors.New("the event itself deletes it")

// references are the copies that rows of a model hold, and those that other rows hold of them.
type references struct {
	of  *rows
	all []querydb.AnyReference
	*bound
}

// bound is what the copies are of.
type bound struct {
	sources []member // of each reference
	givenBy []int    // of each reference, the ordinal of the field with its identifiers
	nested  bool     // some are within objects
}

// copied is all copies in a row that have one identifier, of one reference.
type copied struct {
	ref int // its number
	id  string
}

// bind finds the models that the copies are of among those of the Fold.
func (f *references) bind(members []member) {
	for n, ref := range f.all {
		i := slices.IndexFunc(members, func(m member) bool { return m.model() == ref.Source })
		f.sources = append(f.sources, members[i])
		f.givenBy = append(f.givenBy, givenBy(f.of.desc, &f.all[n]))
		f.nested = f.nested || ref.Nested
		if !ref.Tracked() {
			continue
		}
		own := slices.IndexFunc(members, func(m member) bool { return m.model() == f.of.desc })
		members[i].addFollower(follower{
			members[own], n, cascade.Reference{Model: f.of.desc.Name, Field: ref.Path}, ref.Transactional,
		})
		if ref.FollowsAfter() {
			members[i].isCopied()
		}
	}
}

// forUser is a copy of a row that a function of users may change.
func (f *references) forUser(row any) any {
	if len(f.all) == 0 {
		return f.of.codec.Clone(row)
	}
	return f.withoutCopies(f.of.codec.Clone(row))
}

// withoutCopies removes the copies from a row, and returns it.
func (f *references) withoutCopies(row any) any {
	for i := range f.all {
		for place := range f.all[i].Places(row) {
			f.all[i].Fill(row, place, nil)
		}
	}
	return row
}

// givenBy is the ordinal of the field that holds the identifiers of a reference, or the objects that they are in.
func givenBy(m *querydb.Model, ref *querydb.AnyReference) int {
	if !ref.Nested {
		return ref.ID
	}
	top, _, _ := strings.Cut(ref.Path, ".")
	return slices.IndexFunc(m.Fields, func(field querydb.Field) bool { return field.Name == top })
}

// kept is a row that is to be written over an entry, with the copies that stay as they are, and those that are to be
// filled in: see keepCopies.
func (f *references) kept(e *entry, row any, anew bool, said []keys.FieldChange) (any, []copied) {
	if anew && f.nested {
		row = f.of.codec.Clone(row) // copies within objects are filled into memory of the row's own
	}
	return row, f.keepCopies(e, row, anew, said)
}

// keepCopies has the row that is to be written over an entry hold the copies that stay as they are, and returns those
// that are to be filled in. Of a row that is written anew these are all; of a patch, nil where it is none, those whose
// fields it gives.
func (f *references) keepCopies(e *entry, row any, anew bool, said []keys.FieldChange) (unfilled []copied) {
	for i := range f.all {
		ref := &f.all[i]
		given := anew || said != nil && f.givenBy[i] >= 0 && said[f.givenBy[i]] == keys.FieldGiven
		for place := range ref.Places(row) {
			ref.Fill(row, place, nil)
			c := copied{i, ref.Identifier(row, place)}
			if c.id == "" {
				continue
			}
			if from, held := f.placeOf(e, c, place); held && !given {
				ref.Keep(row, place, e.row, from)
			} else if !slices.Contains(unfilled, c) {
				unfilled = append(unfilled, c)
			}
		}
	}
	return unfilled
}

// placeOf finds a place where the row of an entry holds the copy, the likely one first.
func (f *references) placeOf(e *entry, c copied, likely int) (place int, held bool) {
	if e.row == nil {
		return 0, false
	}
	ref := &f.all[c.ref]
	n := ref.Places(e.row)
	switch {
	case slices.Contains(e.unfilled, c):
		return 0, false
	case likely < n && ref.Identifier(e.row, likely) == c.id:
		return likely, true
	}
	for place := range n {
		if ref.Identifier(e.row, place) == c.id {
			return place, true
		}
	}
	return 0, false
}

// needSources asks for the rows that a row refers to, as far as its identifiers are known before evaluation.
func (f *references) needSources(row any) error {
	for i := range f.all {
		ref := &f.all[i]
		for place := range ref.Places(row) {
			id := ref.Identifier(row, place)
			if id == "" {
				continue
			}
			key, err := querydb.KeyByIdentifier(ref.Source, id)
			if err == nil {
				err = f.sources[i].needKey(key)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// fillIn fills a copy of the source in wherever the row has one of that identifier.
func (f *references) fillIn(row any, c copied, source any) {
	ref := &f.all[c.ref]
	for place := range ref.Places(row) {
		if ref.Identifier(row, place) == c.id {
			ref.Fill(row, place, source)
		}
	}
}

// fillCopies fills in the copies of a row that the event in hand has changed.
func (f *references) fillCopies(e *entry, at ApplyPoint) error {
	if err := f.checkIdentifiers(e); err != nil {
		return err
	}
	for _, c := range e.unfilled {
		ref := &f.all[c.ref]
		key, err := querydb.KeyByIdentifier(ref.Source, c.id)
		if err != nil {
			return err
		}
		source, err := f.sources[c.ref].sourceRow(key, c.id, at)
		if ref.Tracked() {
			f.sources[c.ref].isFilledIn(key, c.id, at.Event)
		}
		if source != nil {
			f.fillIn(e.row, c, source)
			continue
		}
		if ref.NullIfMissing && (err == nil || err == errDeletedHere) {
			continue
		}
		missing := &RefNotFoundError{
			Model: f.of.desc.Name, Field: ref.Path, RefModel: ref.Source.Name, RefID: c.id, Key: key,
		}
		switch {
		case err == errDeletedHere: // no other event can make it right
			return fmt.Errorf("%s: %w", missing.Error(), err)
		case err != nil:
			return err
		case !f.of.bounds.surveying:
			return missing
		}
	}
	e.unfilled = nil
	return nil
}

// checkIdentifiers fails where a row refers to no row, and must.
func (f *references) checkIdentifiers(e *entry) error {
	if !e.present {
		return nil
	}
	for i := range f.all {
		ref := &f.all[i]
		for place := range ref.Places(e.row) {
			if ref.Required && ref.Identifier(e.row, place) == "" {
				name := "the identifier of " + ref.Path
				if ref.ID >= 0 {
					name = f.of.desc.Fields[ref.ID].Name
				}
				return fmt.Errorf("%w: %s of %s row %q has no value: set it, or let the reference be null",
					querydb.ErrInvalid, name, f.of.desc.Name, e.key)
			}
		}
	}
	return nil
}

// sourceRow is a pointer to the row that has the key and the identifier, for a copy of it; nil where there is none,
// and errDeletedHere where that is the event's own doing. A row whose identifier differs in casing may have the same
// key.
func (f *references) sourceRow(key keys.Key, identifier string, at ApplyPoint) (any, error) {
	e := f.of.entry(key)
	if !e.read && e.event == 0 {
		return nil, f.of.missKey(key)
	}
	if e.event == at.Event && !e.present {
		return nil, errDeletedHere
	}
	if !f.of.visible(e, at) || f.of.codec.Value(e.row, f.of.desc.PK.Fields[0]) != keys.String(identifier) {
		return nil, nil
	}
	return e.row, nil
}

// IsThere reports whether a stored row of the model is the one of the identifier for events of the watermark: see
// sourceRow.
func IsThere(m *querydb.Model, row *querydb.Row, identifier string, watermark time.Time) bool {
	if row.Record == nil || row.Expired(watermark) {
		return false
	}
	id, _ := record.String(row.Record.JSON(m.PK.Fields[0]))
	return id == identifier
}

// written yields the keys of the rows that the event in hand has written and not deleted.
func (f *references) written(yield func(*querydb.Model, keys.Key) bool) bool {
	for i := range f.of.journal {
		if e := f.of.journal[i].entry; e.present && !yield(f.of.desc, e.key) {
			return false
		}
	}
	return true
}

// fill fills in the copies of all rows that the event in hand has changed.
func (f *references) fill(at ApplyPoint) error {
	if len(f.all) == 0 {
		return nil
	}
	for i := range f.of.journal {
		if err := f.fillCopies(f.of.journal[i].entry, at); err != nil {
			return err
		}
	}
	return nil
}

// Recopies reports whether Recopy can have the copies that rows hold by the reference follow their row, as the task
// says. Else each takes a Refresh: because other processes or projections write the rows, or because they are kept as
// several items, hold the copies in objects or lists, or are chosen by what they hold; or because rows have unique keys
// and expire, so that which of them has a key hangs on what else is in the commit.
func (t Tracked) Recopies(ref cascade.Reference, task *cascade.Task) bool {
	return t.of(ref.Model).recopies(ref.Field, task)
}

// recopyBytes is how many bytes of rows Stored reads, and about how many one commit of Recopy writes.
const recopyBytes = 8 << 20

// Stored reads rows of the keys for Recopy: the first of them, as many as fit into memory at once.
func (t Tracked) Stored(ctx context.Context, ref cascade.Reference, held []keys.Key) (rows []querydb.Row, err error) {
	m := t.of(ref.Model)
	for n := len(held); ; {
		var read allowance
		rows, err = m.stored(driver.WithBudget(ctx, &read), held[:n])
		if n <= 1 || !errors.Is(err, driver.ErrOverBudget) {
			return rows, err
		}
		n = max(1, min(n-1, int(read.rows.Load())))
	}
}

// allowance is the driver.Budget of rows that fit into memory at once.
type allowance struct{ rows, bytes atomic.Int64 }

var errSpent = errors.New("there are too many rows for one commit")

// Take implements driver.Budget.
func (a *allowance) Take(bytes int) error {
	if a.bytes.Add(int64(bytes)) > recopyBytes {
		return errSpent
	}
	a.rows.Add(1)
	return nil
}

// Recopied is what Recopy makes: the writes of so many of the rows as one commit holds. None are done where each of
// them takes a Refresh.
type Recopied struct {
	Writes []querydb.Write
	Done   int
}

// Recopy has the copies that stored rows hold by the reference follow the row that they are of, as the task says. It
// evaluates no op, and takes a fraction of the time of Refresh, which makes the same of the rows. Where one of them
// cannot be read or cannot hold the copy, it leaves all of them to Refresh, which says why. It wants a Reset before.
func (t Tracked) Recopy(ctx context.Context, ref cascade.Reference, stored []querydb.Row, task *cascade.Task) (
	Recopied, error,
) {
	return t.of(ref.Model).recopy(ctx, ref.Field, stored, task)
}

// of is the rows of the model of that name.
func (t Tracked) of(model string) member {
	return t[slices.IndexFunc(t, func(m member) bool { return m.model().Name == model })]
}

// at finds the reference by which rows hold copies at the path.
func (f *references) at(path string) int {
	return slices.IndexFunc(f.all, func(r querydb.AnyReference) bool { return r.Path == path })
}

func (f *references) recopies(path string, t *cascade.Task) bool {
	m := f.of.desc
	filters, all, _ := t.Filters(m.Name)
	others := f.of.bounds.shared || len(m.Writers) > 1
	return !others && (all || len(filters) == 0) && (f.of.traits.unique == nil || m.TTL < 0) &&
		recopy.Suits(m, &f.all[f.at(path)])
}

func (f *references) stored(ctx context.Context, held []keys.Key) ([]querydb.Row, error) {
	return f.of.db.Get(ctx, f.of.desc, held, true)
}

func (f *references) recopy(ctx context.Context, path string, stored []querydb.Row, t *cascade.Task) (
	Recopied, error,
) {
	i := f.at(path)
	ref := &f.all[i]
	key, err := querydb.KeyByIdentifier(ref.Source, t.Identifier)
	if err == nil {
		err = f.sources[i].needKey(key)
	}
	if err == nil {
		err = f.sources[i].load(ctx)
	}
	if err != nil {
		return Recopied{}, err
	}
	source, err := f.sources[i].sourceRow(key, t.Identifier, ApplyPoint{Event: 1})
	if err != nil || source == nil && !ref.NullIfMissing {
		return Recopied{Done: len(stored)}, err
	}
	_, all, _ := t.Filters(f.of.desc.Name)
	return f.recopied(&recopy.Recopier{
		Codec: f.of.codec, Reference: ref, Identifier: t.Identifier, Source: source,
		OnlyAbsent: source != nil && !ref.Cascade && !all,
	}, stored), nil
}

// recopied makes the writes of as many rows as one commit holds.
func (f *references) recopied(r *recopy.Recopier, stored []querydb.Row) Recopied {
	out := Recopied{Writes: make([]querydb.Write, 0, len(stored))}
	bytes, most := 0, f.of.bounds.mostOfEvent
	for i := range stored {
		row, follows, err := r.Row(&stored[i])
		if err == nil && follows {
			err = f.of.db.Validate(f.of.desc, &row)
		}
		size := rowSize(&row)
		if err != nil || size > most {
			return Recopied{}
		}
		if bytes += size; bytes > min(recopyBytes, most) && len(out.Writes) > 0 {
			break
		}
		if out.Done++; follows {
			out.Writes = append(out.Writes, querydb.Write{Model: f.of.desc, Row: row})
		}
	}
	return out
}
