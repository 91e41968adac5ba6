package projections

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/foldql/foldql/eventlog/httpsource"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

// DecisionFeed gives what is on record of decisions about dead letters to servers that follow this one. It implements
// httpsource.Decisions.
type DecisionFeed struct {
	Folds *Set
	DB    *querydb.DB

	mu      sync.Mutex
	tags    map[string]string
	looked  time.Time
	took    time.Duration // to look
	decided uint64        // Set.decisions as it was when they were looked at
}

// How often decisions are looked at, while somebody waits for others: a projection makes some by itself, and on a store
// that several processes write so do other servers. What operators of this one decide is looked at at once. All looks
// together take no more than one part of the time in so many.
const (
	lookForOwn    = 2 * time.Second
	lookForOthers = 10 * time.Second
	partOfTime    = 20
)

// Tags implements httpsource.Decisions.
func (d *DecisionFeed) Tags(ctx context.Context) (map[string]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	decided, again := d.Folds.decisions.Load(), lookForOwn
	switch {
	case decided != d.decided:
		again = 0
	case d.DB.MultiWriter():
		again = lookForOthers
	}
	if d.tags != nil && time.Since(d.looked) < max(again, partOfTime*d.took) {
		return d.tags, nil
	}
	began, tags := time.Now(), map[string]string{}
	for _, one := range d.Folds.All {
		tag, err := d.tag(ctx, one.Name)
		if err != nil {
			return nil, err
		}
		if tag != "" {
			tags[one.Name] = tag
		}
	}
	d.tags, d.looked, d.took, d.decided = tags, time.Now(), time.Since(began), decided
	return tags, nil
}

// tag is a text that stands for all decisions of a projection, "" for none.
func (d *DecisionFeed) tag(ctx context.Context, name string) (string, error) {
	sum, some := sha256.New(), false
	for after := ""; ; {
		all, last, err := projection.Decisions(ctx, d.DB, name, after, querydb.MaxPageRows)
		if err != nil {
			return "", err
		}
		for _, decision := range all {
			text, err := json.Marshal(decision)
			if err != nil {
				return "", err
			}
			sum.Write(text)
		}
		some = some || len(all) > 0
		if len(all) < querydb.MaxPageRows {
			break
		}
		after = last
	}
	if !some {
		return "", nil
	}
	return hex.EncodeToString(sum.Sum(nil)[:16]), nil
}

// List implements httpsource.Decisions.
func (d *DecisionFeed) List(ctx context.Context, name, after string, limit int) (list []json.RawMessage, last string,
	err error) {
	all, last, err := projection.Decisions(ctx, d.DB, name, after, limit)
	if errors.Is(err, projection.ErrInvalidRef) {
		return nil, "", httpsource.ErrNoSuchDecision
	}
	for _, decision := range all {
		text, err := json.Marshal(decision)
		if err != nil {
			return nil, "", err
		}
		list = append(list, text)
	}
	if len(all) < limit {
		last = ""
	}
	return list, last, err
}
