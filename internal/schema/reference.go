package schema

import "strings"

// Reference is a field of a row that holds a copy of a row of another model, beside the identifier of that row.
type Reference struct {
	ID     *Field // what projectors give; it is in no declaration
	Copy   *Field // what the fold fills in; it has the name of the declared field
	Source *ReadModel

	Cascade       Cascade
	NullIfMissing bool // the copy is null as long as there is no such row
}

// Cascade says which changes of its row a copy follows, and when. Its values are those of RefCascade in schemas.
type Cascade string

// The kinds of cascades.
const (
	CascadeNone          Cascade = "NONE"
	CascadeEventual      Cascade = "EVENTUAL"      // every change, after its commit
	CascadeTransactional Cascade = "TRANSACTIONAL" // every change, in its commit
	CascadeOnRequest     Cascade = "ON_REQUEST"    // those changes for which an op asks for it
)

// Always reports whether copies follow every change of their row.
func (c Cascade) Always() bool { return c == CascadeEventual || c == CascadeTransactional }

// ReferenceIDName is the name of the field that holds the identifier of a reference: teamId of team and id.
func ReferenceIDName(field, identifier string) string { return field + upperFirst(identifier) }

// CopyType is the name of the type that copies of rows of a model have.
func CopyType(model string) string { return model + "Copy" }

// IsCopy reports whether the field holds a copy of a row of another model.
func (f *Field) IsCopy() bool { return f.Object != nil && f.Object.CopyOf != "" }

// HoldsNull reports whether a stored row may have no value in the field: it is null, or a copy that is not filled in.
// A list of parts of an aggregate has no elements in place of null.
func (f *Field) HoldsNull() bool {
	if f.List && f.Item {
		return false
	}
	return f.Nullable || f.IsCopy()
}

// ListIDName is the name of the field that holds the identifiers of a list of references: umpireIds of umpires and id.
func ListIDName(field, identifier string) string {
	return strings.TrimSuffix(field, "s") + upperFirst(identifier) + "s"
}
