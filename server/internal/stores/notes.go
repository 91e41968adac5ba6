package stores

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// Notes of the server's own.
const (
	ServerNotes  = "server"
	tokenKeyNote = "page token key"
	sourceNote   = "source of events"
)

// TokenKey returns the secret of page tokens. It is kept with the rows, so that tokens outlive a restart.
func TokenKey(ctx context.Context, db *querydb.DB) (keys.TokenKey, error) {
	var k keys.TokenKey
	if _, err := rand.Read(k[:]); err != nil {
		return k, fmt.Errorf("make a key for page tokens: %w", err)
	}
	kept, err := keepFirst(ctx, db, tokenKeyNote, k[:])
	if err == nil && len(kept) != len(k) {
		err = fmt.Errorf("read the %s: it has %d bytes instead of %d: the store is damaged", tokenKeyNote, len(kept), len(k))
	}
	copy(k[:], kept)
	return k, err
}

// keepFirst keeps the value in a note that is not there yet, and returns what the note holds: of several servers that
// begin at once, one writes it.
func keepFirst(ctx context.Context, db *querydb.DB, id string, value []byte) ([]byte, error) {
	for {
		note, err := db.Notes().Get(ctx, ServerNotes, id)
		if err != nil {
			return nil, fmt.Errorf("read the %s: %w", id, err)
		}
		if note.Value != nil {
			return note.Value, nil
		}
		note.Value, note.IfRevision = value, true
		err = db.Apply(ctx, querydb.Batch{Notes: []querydb.Note{note}})
		switch {
		case errors.Is(err, querydb.ErrStale): // another server was faster
		case err != nil:
			return nil, fmt.Errorf("keep the %s: %w", id, err)
		default:
			return value, nil
		}
	}
}
