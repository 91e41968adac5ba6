package embeddedlog

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"github.com/foldql/foldql/eventlog"
)

var incarnationKey = []byte("n")

// newIncarnation is 50 bits of chance: no two logs that are ever compared have the same.
func newIncarnation() []byte { return []byte(strings.ToLower(rand.Text()[:10])) }

// create marks a new directory.
func (l *Log) create() error {
	batch := l.db.NewBatch()
	defer batch.Close()
	if err := batch.Set([]byte("f"), []byte{format}, nil); err != nil {
		return err
	}
	if err := batch.Set(incarnationKey, newIncarnation(), nil); err != nil {
		return err
	}
	return batch.Commit(pebble.Sync)
}

func (l *Log) readIncarnation() error {
	value, err := l.get(incarnationKey)
	l.made = string(value)
	return err
}

// Incarnation implements eventlog.RecreatableSource: it tells the log from every other that was made, or renewed. A
// copy of the directory has the same.
func (l *Log) Incarnation(ctx context.Context, partition string) (string, error) {
	if err := checkPartition(partition); err != nil {
		return "", err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return "", eventlog.ErrClosed
	}
	return l.made, ctx.Err()
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
	made := newIncarnation()
	if err := l.db.Set(incarnationKey, made, pebble.Sync); err != nil {
		return fmt.Errorf("renew the event log in %s: %w", l.dir, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.made = string(made)
	return nil
}
