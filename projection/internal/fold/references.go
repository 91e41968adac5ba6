package fold

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection/internal/cascade"
	"github.com/foldql/foldql/querydb"
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
	// Other is the identifier of another row under that key, "" where there is none; it is in the reason of a dead
	// letter alone.
	Other string `json:"-"`
}

// Error implements error.
func (e *RefNotFoundError) Error() string {
	other := ""
	if e.Other != "" {
		other = fmt.Sprintf(", or the event must refer to %q, which is there and has the same key", e.Other)
	}
	return fmt.Sprintf("fill in %s of %s: there is no %s with the identifier %q; an event that makes it must come first%s",
		e.Field, e.Model, e.RefModel, e.RefID, other)
}

// Is makes the error one of ErrNoRow.
func (e *RefNotFoundError) Is(target error) bool { return target == ErrNoRow }

// errDeletedHere is of a row that the event deletes, or writes as expired, which refers to it.
var errDeletedHere = errors.New("the event itself deletes the row, or writes it as expired")

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
func (rf *references) bind(members []member) {
	for n, ref := range rf.all {
		i := slices.IndexFunc(members, func(m member) bool { return m.model() == ref.Source })
		rf.sources = append(rf.sources, members[i])
		rf.givenBy = append(rf.givenBy, givenBy(rf.of.desc, &rf.all[n]))
		rf.nested = rf.nested || ref.Nested
		if !ref.Tracked() {
			continue
		}
		own := slices.IndexFunc(members, func(m member) bool { return m.model() == rf.of.desc })
		members[i].addFollower(follower{
			members[own], n, cascade.Reference{Model: rf.of.desc.Name, Field: ref.Path}, ref.Transactional,
		})
		if ref.FollowsAfter() {
			members[i].isCopied()
		}
	}
}

// forUser is a copy of a row that a function of users may change.
func (rf *references) forUser(row any) any {
	if len(rf.all) == 0 {
		return rf.of.codec.Clone(row)
	}
	return rf.withoutCopies(rf.of.codec.Clone(row))
}

// withoutCopies removes the copies from a row, and returns it.
func (rf *references) withoutCopies(row any) any {
	for i := range rf.all {
		for place := range rf.all[i].Places(row) {
			rf.all[i].Fill(row, place, nil)
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
func (rf *references) kept(e *entry, row any, anew bool, said []keys.FieldChange) (any, []copied) {
	if anew && rf.nested {
		row = rf.of.codec.Clone(row) // copies within objects are filled into memory of the row's own
	}
	return row, rf.keepCopies(e, row, anew, said)
}

// keepCopies has the row that is to be written over an entry hold the copies that stay as they are, and returns those
// that are to be filled in. Of a row that is written anew these are all; of a patch, nil where it is none, those whose
// fields it gives.
func (rf *references) keepCopies(e *entry, row any, anew bool, said []keys.FieldChange) (unfilled []copied) {
	for i := range rf.all {
		ref := &rf.all[i]
		given := anew || said != nil && rf.givenBy[i] >= 0 && said[rf.givenBy[i]] == keys.FieldGiven
		for place := range ref.Places(row) {
			ref.Fill(row, place, nil)
			c := copied{i, ref.Identifier(row, place)}
			if c.id == "" {
				continue
			}
			if from, held := rf.placeOf(e, c, place); held && !given {
				ref.Keep(row, place, e.row, from)
			} else if !slices.Contains(unfilled, c) {
				unfilled = append(unfilled, c)
			}
		}
	}
	return unfilled
}

// placeOf finds a place where the row of an entry holds the copy, the likely one first.
func (rf *references) placeOf(e *entry, c copied, likely int) (place int, held bool) {
	if e.row == nil {
		return 0, false
	}
	ref := &rf.all[c.ref]
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
func (rf *references) needSources(row any) error {
	for i := range rf.all {
		ref := &rf.all[i]
		for place := range ref.Places(row) {
			id := ref.Identifier(row, place)
			if id == "" {
				continue
			}
			key, err := querydb.KeyByIdentifier(ref.Source, id)
			if err == nil {
				err = rf.sources[i].needKey(key)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// fillIn fills a copy of the source in wherever the row has one of that identifier.
func (rf *references) fillIn(row any, c copied, source any) {
	ref := &rf.all[c.ref]
	for place := range ref.Places(row) {
		if ref.Identifier(row, place) == c.id {
			ref.Fill(row, place, source)
		}
	}
}

// fillCopies fills in the copies of a row that the event in hand has changed.
func (rf *references) fillCopies(e *entry, at ApplyPoint) error {
	if err := rf.checkIdentifiers(e); err != nil {
		return err
	}
	for _, c := range e.unfilled {
		ref := &rf.all[c.ref]
		key, err := querydb.KeyByIdentifier(ref.Source, c.id)
		if err != nil {
			return err
		}
		source, err := rf.sources[c.ref].sourceRow(key, c.id, nil, at)
		if ref.Tracked() {
			rf.sources[c.ref].isFilledIn(key, c.id, at.Event)
		}
		if source != nil {
			rf.fillIn(e.row, c, source)
			continue
		}
		if ref.NullIfMissing && (err == nil || err == errDeletedHere) {
			continue
		}
		missing := &RefNotFoundError{
			Model: rf.of.desc.Name, Field: ref.Path, RefModel: ref.Source.Name, RefID: c.id, Key: key,
		}
		switch {
		case err == errDeletedHere: // no other event can make it right
			return fmt.Errorf("fill in %s of %s: the event itself deletes %s %q, or writes it as expired; "+
				"refer to one that stays", missing.Field, missing.Model, missing.RefModel, missing.RefID)
		case err != nil:
			return err
		case !rf.of.bounds.surveying:
			of := rf.sources[c.ref]
			missing.Other = of.visibleIdentifier(of.entry(key), at)
			return missing
		}
	}
	e.unfilled = nil
	return nil
}

// checkIdentifiers fails where a row refers to no row, and must.
func (rf *references) checkIdentifiers(e *entry) error {
	if !e.present {
		return nil
	}
	for i := range rf.all {
		ref := &rf.all[i]
		for place := range ref.Places(e.row) {
			if ref.Required && ref.Identifier(e.row, place) == "" {
				name := "the identifier of " + ref.Path
				if ref.ID >= 0 {
					name = rf.of.desc.Fields[ref.ID].Name
				}
				return fmt.Errorf("%w: %s of %s row %q has no value: set it, or let the reference be null",
					querydb.ErrInvalid, name, rf.of.desc.Name, e.key)
			}
		}
	}
	return nil
}

// sourceRow is a pointer to the row that has the key and the identifier, for a copy of it; nil where there is none,
// and errDeletedHere where that is the event's own doing. A row whose identifier differs in casing may have the same
// key. The copy follows by a task, nil where it does not.
func (rf *references) sourceRow(key keys.Key, identifier string, by *cascade.Task, at ApplyPoint) (any, error) {
	e := rf.of.entry(key)
	if !e.read && e.event == 0 {
		return nil, rf.of.missKey(key)
	}
	visible := rf.of.visible(e, at)
	if !visible && rf.of.views.deleted(e, at) {
		return nil, errDeletedHere
	}
	if !visible || by != nil && by.IsNone(e.pos) ||
		rf.of.codec.Value(e.row, rf.of.desc.Identifier()) != keys.String(identifier) {
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
	id, _ := record.String(row.Record.JSON(m.Identifier()))
	return id == identifier
}

// written yields the keys of the rows that the event in hand has written and not deleted.
func (rf *references) written(yield func(*querydb.Model, keys.Key) bool) bool {
	for i := range rf.of.journal {
		if e := rf.of.journal[i].entry; e.present && !yield(rf.of.desc, e.key) {
			return false
		}
	}
	return true
}

// fill fills in the copies of all rows that the event in hand has changed.
func (rf *references) fill(at ApplyPoint) error {
	if len(rf.all) == 0 {
		return nil
	}
	for i := range rf.of.journal {
		if err := rf.fillCopies(rf.of.journal[i].entry, at); err != nil {
			return err
		}
	}
	return nil
}

// of is the rows of the model of that name.
func (t Tracked) of(model string) member {
	return t[slices.IndexFunc(t, func(m member) bool { return m.model().Name == model })]
}
