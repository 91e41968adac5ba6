package cascade

import "github.com/foldql/foldql/querydb"

// LinkVersion is the version of the links to the row with the identifier by one reference: a note that each commit
// writes which adds such a link, so that its revision grows. A commit in which copies follow their row has found them
// by the links; it takes effect only where the version is still the one that was read before these. Without that,
// another process could add a link in between, with a copy of the row as it was, and no change would ever reach that
// copy. A cascade after the commit needs no such version, because it reads the links when the row has changed already.
type LinkVersion struct {
	Reference
	Identifier string
	Found      bool   // the commit rests on the links
	Revision   uint64 // as it was when they were read
	Adds       bool   // the commit adds a link
}

// VersionID is the ID of the note.
func VersionID(r Reference, identifier string) string { return Prefix(r, identifier) }

// Note is what the commit says of the version: it checks it, writes it, or both.
func (v *LinkVersion) Note(kind string) querydb.Note {
	n := querydb.Note{Kind: kind, ID: VersionID(v.Reference, v.Identifier), IfRevision: v.Found, Revision: v.Revision}
	if n.CheckOnly = !v.Adds; v.Adds {
		n.Value = []byte("{}")
	}
	return n
}
