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
	if err != nil {
		return k, err
	}
	return tokenKeyOf(kept)
}

// ErrNoServerYet is of a store that no server which folds has ever opened: it has no secret of page tokens.
var ErrNoServerYet = errors.New("no server that folds has opened the store yet")

// RecordedTokenKey is TokenKey of a server that puts nothing on record.
func RecordedTokenKey(ctx context.Context, db *querydb.DB) (k keys.TokenKey, err error) {
	note, err := read(ctx, db, tokenKeyNote)
	if err != nil {
		return k, err
	}
	if note.Value == nil {
		return k, ErrNoServerYet
	}
	return tokenKeyOf(note.Value)
}

func tokenKeyOf(kept []byte) (k keys.TokenKey, err error) {
	if len(kept) != len(k) {
		return k, fmt.Errorf("read the %s: it has %d bytes instead of %d: the store is damaged", tokenKeyNote, len(kept),
			len(k))
	}
	copy(k[:], kept)
	return k, nil
}

// read reads a note of the server's own; its value is nil where it is not there.
func read(ctx context.Context, db *querydb.DB, id string) (querydb.Note, error) {
	note, err := db.Notes().Get(ctx, ServerNotes, id)
	if err != nil {
		return note, fmt.Errorf("read the %s: %w", id, err)
	}
	return note, nil
}

// keepFirst keeps the value in a note that is not there yet, and returns what the note holds: of several servers that
// begin at once, one writes it.
func keepFirst(ctx context.Context, db *querydb.DB, id string, value []byte) ([]byte, error) {
	for {
		note, err := read(ctx, db, id)
		if err != nil || note.Value != nil {
			return note.Value, err
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
