package page

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"github.com/foldql/foldql/querydb/driver"
)

// HiddenRows bounds what several reads together do with rows that their caller may not know of: how many they pass
// over, and how many are in memory at the same time before it is known whether they are such rows, as nothing is
// charged for those. It is safe for concurrent use.
type HiddenRows struct {
	rest   Examination // of what may be passed over
	once   sync.Once
	places *semaphore.Weighted // of rows that are unjudged, whatever they hold
	bytes  atomic.Int64        // of the unjudged rows of reads that have one place for all
}

// NewHiddenRows allows so many rows to be passed over.
func NewHiddenRows(rows int) *HiddenRows {
	h := &HiddenRows{}
	h.rest.rest.Store(int64(rows))
	return h
}

// Judge waits until so many rows more may be in memory unjudged, of FewRows altogether; more rows than that count as
// that many. The caller calls judged when it knows of each whether it is hidden, and holds those no longer that are.
// Whoever waits holds no rows unjudged, as others may wait for those.
func (h *HiddenRows) Judge(ctx context.Context, rows int) (judged func(), err error) {
	h.once.Do(func() { h.places = semaphore.NewWeighted(FewRows) })
	places := int64(min(rows, FewRows))
	if err := h.places.Acquire(ctx, places); err != nil {
		return nil, err
	}
	return func() { h.places.Release(places) }, nil
}

// hold has so many rows read of which it is not known whether they are hidden, for which nothing is charged. Rows that
// are too large to be in memory with those of other reads are given up, and fewer of them read while no others are
// there. The caller calls judged as with Judge.
func (h *HiddenRows) hold(ctx context.Context, rows int, read func(ctx context.Context, rows int) (batch, error)) (
	b batch, judged func(), err error) {
	if h == nil {
		h = &HiddenRows{}
	}
	ctx, again := driver.ChargedOnce(ctx)
	small, err := h.judgeSmall(ctx)
	if err != nil {
		return batch{}, nil, err
	}
	bounded := ctx
	if driver.BudgetOf(ctx) != nil {
		bounded = driver.WithBudget(ctx, small)
	}
	if b, err = read(bounded, rows); err == nil {
		return b, small.judged, nil
	}
	small.judged()
	if !errors.Is(err, driver.ErrOverBudget) {
		return batch{}, nil, err
	}
	if judged, err = h.Judge(ctx, FewRows); err != nil {
		return batch{}, nil, err
	}
	again()
	if b, err = read(driver.Uncharged(ctx), min(rows, FewRows)); err != nil {
		judged()
	}
	return b, judged, err
}

// unjudgedBytes is what the rows may take together of reads that have one place for all.
const unjudgedBytes = FewRows * readSize

// smallRows are the rows of a read that takes one place for all of them, so that several such reads go on at the same
// time. It is the budget of the read, which fails where the rows turn out too large for that.
type smallRows struct {
	of    *HiddenRows
	bytes atomic.Int64
	place func() // gives it back
}

// judgeSmall is Judge for a read of rows that are small, as most are. The caller calls judged likewise.
func (h *HiddenRows) judgeSmall(ctx context.Context) (*smallRows, error) {
	place, err := h.Judge(ctx, 1)
	return &smallRows{of: h, place: place}, err
}

func (s *smallRows) Take(bytes int) error {
	if s.of.bytes.Add(int64(bytes)) > unjudgedBytes {
		s.of.bytes.Add(int64(-bytes))
		return fmt.Errorf("rows of more than %d bytes are read at once", unjudgedBytes)
	}
	s.bytes.Add(int64(bytes))
	return nil
}

func (s *smallRows) judged() {
	s.of.bytes.Add(-s.bytes.Load())
	s.place()
}

// passing is how many rows may still be passed over, nil for any number.
func (h *HiddenRows) passing() *Examination {
	if h == nil {
		return nil
	}
	return &h.rest
}
