package querydb

// Reference is a field of a row of type R that holds a copy of a row of another model, or a field of objects in such a
// row, which then has several places for copies. A projector gives the identifiers of the rows that are copied, and the
// fold fills in the copies.
type Reference[R any] struct {
	Path      string // of the copy in the row: "player", "team1.players.player"
	Field, ID int    // ordinals of the copy and of the identifier beside it; -1 where they are in an object
	Source    *Model
	// Count returns how many places the row has; nil is for one that is always there.
	Count func(row *R) int
	// Identifier returns the identifier that the row gives at a place, "" where it gives none.
	Identifier func(row *R, place int) string
	// Fill copies source, a pointer to a row of Source, into a place; nil removes the copy.
	Fill func(row *R, place int, source any)
	// Keep takes a copy over from a place of another state of the row.
	Keep func(row *R, place int, from *R, fromPlace int)
	// Filled reports whether a place holds a copy.
	Filled func(row *R, place int) bool
	// Required makes a place without an identifier an error.
	Required bool
	// Cascade makes the copy follow every change of the row that it is of: in the commit of the change, where it is
	// Transactional, else after it.
	Cascade, Transactional bool
	// OnRequest makes the copy follow the changes of the row for which an op asks for it.
	OnRequest bool
	// NullIfMissing makes the copy null where there is no such row, until it appears; else there must be one.
	NullIfMissing bool
}

// References are the references of a model, whatever its rows are.
type References interface{ any() []AnyReference }

// ReferencesOf are the references of rows of type R. A model that has none compiles nothing of this for its rows.
type ReferencesOf[R any] []Reference[R]

func (all ReferencesOf[R]) any() []AnyReference {
	each := make([]AnyReference, len(all))
	for i := range all {
		each[i] = anyReference(&all[i])
	}
	return each
}

func anyReference[R any](r *Reference[R]) AnyReference {
	return AnyReference{
		Path: r.Path, Field: r.Field, ID: r.ID, Source: r.Source, Nested: r.Count != nil, Required: r.Required,
		Cascade: r.Cascade, Transactional: r.Transactional, OnRequest: r.OnRequest, NullIfMissing: r.NullIfMissing,
		typed: (*referenceOf[R])(r),
	}
}

// AnyReference is a [Reference] without the type of the rows that have it: see AnyCodec.
type AnyReference struct {
	Path                              string
	Field, ID                         int
	Source                            *Model
	Nested                            bool // the copies are within objects
	Required                          bool
	Cascade, Transactional, OnRequest bool
	NullIfMissing                     bool
	typed                             typedReference
}

// typedReference is a *referenceOf[R], and each row a *R.
type typedReference interface {
	places(row any) int
	identifier(row any, place int) string
	fill(row any, place int, source any)
	keep(row any, place int, from any, fromPlace int)
	filled(row any, place int) bool
}

// referenceOf has the methods that a Reference has not: see codecOf.
type referenceOf[R any] Reference[R]

func (r *referenceOf[R]) places(row any) int { return r.Count(row.(*R)) }

func (r *referenceOf[R]) identifier(row any, place int) string { return r.Identifier(row.(*R), place) }

func (r *referenceOf[R]) fill(row any, place int, source any) { r.Fill(row.(*R), place, source) }

func (r *referenceOf[R]) keep(row any, place int, from any, fromPlace int) {
	r.Keep(row.(*R), place, from.(*R), fromPlace)
}

func (r *referenceOf[R]) filled(row any, place int) bool { return r.Filled(row.(*R), place) }

// Places is how many places for copies a row has.
func (r *AnyReference) Places(row any) int {
	if !r.Nested {
		return 1
	}
	return r.typed.places(row)
}

// Identifier returns the identifier that the row gives at a place, "" where it gives none.
func (r *AnyReference) Identifier(row any, place int) string { return r.typed.identifier(row, place) }

// Fill copies source, a pointer to a row of Source, into a place; nil removes the copy.
func (r *AnyReference) Fill(row any, place int, source any) { r.typed.fill(row, place, source) }

// Keep takes a copy over from a place of another state of the row.
func (r *AnyReference) Keep(row any, place int, from any, fromPlace int) {
	r.typed.keep(row, place, from, fromPlace)
}

// Filled reports whether a place holds a copy.
func (r *AnyReference) Filled(row any, place int) bool { return r.typed.filled(row, place) }

// Tracked reports whether it is kept on record which rows hold the copies, because they change with the rows that they
// are of.
func (r *AnyReference) Tracked() bool { return r.Cascade || r.OnRequest || r.NullIfMissing }

// FollowsAfter reports whether the copies follow, by the schema, after the commit of a change.
func (r *AnyReference) FollowsAfter() bool {
	return !r.Transactional && (r.Cascade || r.NullIfMissing)
}
