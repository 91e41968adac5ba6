package projections

import (
	"context"
	"sync"
	"time"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

// watch finds out whether other processes have changed generations, for all units at once: a survey reads much.
type watch struct {
	mu          sync.Mutex
	fingerprint string
	at          time.Time
}

// read is the fingerprint of what is on record, which is not older than half the time between two looks.
func (w *watch) read(ctx context.Context, db *querydb.DB) (string, error) {
	if !db.MultiWriter() {
		return "", nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := time.Now(); w.at.IsZero() || now.Sub(w.at) > lookBuildEvery/2 {
		fingerprint, err := projection.Fingerprint(ctx, db)
		if err != nil {
			return "", err
		}
		w.fingerprint, w.at = fingerprint, now
	}
	return w.fingerprint, nil
}
