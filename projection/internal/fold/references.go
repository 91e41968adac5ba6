package fold

import (
	"errors"
	"fmt"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// A row that refers to rows of other models holds copies of them. A projector gives their identifiers, and the copies
// are filled in here, after the ops of the event: so an event may bring a row and one that refers to it in any order.
// Functions of users see no copies, so that nothing that is folded depends on how old one is. A copy stays as it is as
// long as the row keeps the identifier; a row that is written anew gets new ones.

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
type references[R any] struct {
	of      *rows[R]
	all     []querydb.Reference[R]
	sources []member // of each of all
}

// bind finds the models that the copies are of among those of the Fold.
func (f *references[R]) bind(members []member) {
	for _, ref := range f.all {
		i := slices.IndexFunc(members, func(m member) bool { return m.model() == ref.Source })
		f.sources = append(f.sources, members[i])
		if ref.Tracked() {
			members[i].isCopied()
		}
	}
}

// forUser is a copy of a row that a function of users may change.
func (f *references[R]) forUser(row *R) R {
	c := f.of.codec.Clone(row)
	f.withoutCopies(&c)
	return c
}

func (f *references[R]) withoutCopies(row *R) {
	for i := range f.all {
		f.all[i].Fill(row, nil)
	}
}

// keepCopies has the row that is to be written over an entry hold the copies that stay as they are, and returns the
// numbers of those that are to be filled in. Of a row that is written anew these are all.
func (f *references[R]) keepCopies(e *entry[R], row *R, anew bool) (unfilled []int) {
	for i := range f.all {
		ref := &f.all[i]
		ref.Fill(row, nil)
		switch id := ref.Identifier(row); {
		case id == "":
		case anew || ref.Identifier(&e.row) != id || slices.Contains(e.unfilled, i):
			unfilled = append(unfilled, i)
		default:
			ref.Keep(row, &e.row)
		}
	}
	return unfilled
}

// needSources asks for the rows that a row refers to, as far as its identifiers are known before evaluation.
func (f *references[R]) needSources(row *R) error {
	for i := range f.all {
		key, given, err := f.sourceKey(i, row)
		if err == nil && given {
			err = f.sources[i].needKey(key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sourceKey is the key of the row that the i-th copy is of; given is false where the row names none.
func (f *references[R]) sourceKey(i int, row *R) (key keys.Key, given bool, err error) {
	ref := &f.all[i]
	id := ref.Identifier(row)
	if id == "" {
		return key, false, nil
	}
	key, err = querydb.KeyByIdentifier(ref.Source, id)
	return key, true, err
}

// fillCopies fills in the copies of a row that the event in hand has changed.
func (f *references[R]) fillCopies(e *entry[R], at ApplyPoint) error {
	if err := f.checkIdentifiers(e); err != nil {
		return err
	}
	for _, i := range e.unfilled {
		ref := &f.all[i]
		key, _, err := f.sourceKey(i, &e.row)
		if err != nil {
			return err
		}
		source, err := f.sources[i].sourceRow(key, ref.Identifier(&e.row), at)
		if ref.Tracked() {
			f.sources[i].isFilledIn(key, ref.Identifier(&e.row), at.Event)
		}
		if source != nil {
			ref.Fill(&e.row, source)
			continue
		}
		if ref.NullIfMissing && (err == nil || err == errDeletedHere) {
			continue
		}
		missing := &RefNotFoundError{
			Model: f.of.desc.Name, Field: f.of.desc.Fields[ref.Field].Name,
			RefModel: ref.Source.Name, RefID: ref.Identifier(&e.row), Key: key,
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
func (f *references[R]) checkIdentifiers(e *entry[R]) error {
	for i := range f.all {
		id := f.of.desc.Fields[f.all[i].ID]
		if e.present && !id.Nullable && f.all[i].Identifier(&e.row) == "" {
			return fmt.Errorf("%w: %s of %s row %q has no value: set it, or let the reference be null",
				querydb.ErrInvalid, id.Name, f.of.desc.Name, e.key)
		}
	}
	return nil
}

// sourceRow is a pointer to the row that has the key and the identifier, for a copy of it; nil where there is none,
// and errDeletedHere where that is the event's own doing. A row whose identifier differs in casing may have the same
// key.
func (f *references[R]) sourceRow(key keys.Key, identifier string, at ApplyPoint) (any, error) {
	e := f.of.entry(key)
	if !e.read && e.event == 0 {
		return nil, f.of.missKey(key)
	}
	if e.event == at.Event && !e.present {
		return nil, errDeletedHere
	}
	if !f.of.visible(e, at) || f.of.codec.Value(&e.row, f.of.desc.PK.Fields[0]) != keys.String(identifier) {
		return nil, nil
	}
	return &e.row, nil
}

// written yields the keys of the rows that the event in hand has written and not deleted.
func (f *references[R]) written(yield func(*querydb.Model, keys.Key) bool) bool {
	for _, u := range f.of.journal {
		if u.entry.present && !yield(f.of.desc, u.entry.key) {
			return false
		}
	}
	return true
}

// fill fills in the copies of all rows that the event in hand has changed.
func (f *references[R]) fill(at ApplyPoint) error {
	for _, u := range f.of.journal {
		if err := f.fillCopies(u.entry, at); err != nil {
			return err
		}
	}
	return nil
}
