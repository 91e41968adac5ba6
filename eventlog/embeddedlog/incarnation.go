package embeddedlog

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/cockroachdb/pebble/v2"
)

// newIncarnation is 50 bits of chance: no two logs that are ever compared have the same.
func newIncarnation() []byte { return []byte(strings.ToLower(rand.Text()[:10])) }

// Incarnation implements eventlog.RecreatableSource: it tells the log from every other that was made, or renewed. A
// copy of the directory has the same.
func (l *Log) Incarnation(ctx context.Context, partition string) (string, error) {
	if err := checkPartition(partition); err != nil {
		return "", err
	}
	if _, err := l.head(ctx); err != nil {
		return "", err
	}
	return l.incarnation.Load().(string), nil
}

// Renew gives the log another incarnation: what is on record about positions in it says nothing about it from then on.
func (l *Log) Renew(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	end, err := l.begin()
	if err != nil {
		return err
	}
	defer end()
	renewed := newIncarnation()
	if err := l.records.db.Set(incarnationKey, renewed, pebble.Sync); err != nil {
		return fmt.Errorf("renew the event log in %s: %w", l.dir, err)
	}
	l.incarnation.Store(string(renewed))
	return nil
}
