package page

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// HiddenRows bounds what several reads together do with rows that their caller may not know of: how many they pass
// over, and how many are in memory at the same time before it is known whether they are such rows, as nothing is
// charged for those. It is safe for concurrent use.
type HiddenRows struct {
	rest     Examination // of what may be passed over
	once     sync.Once
	unjudged *semaphore.Weighted
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
	if h == nil {
		return func() {}, nil
	}
	h.once.Do(func() { h.unjudged = semaphore.NewWeighted(FewRows) })
	places := int64(min(rows, FewRows))
	if err := h.unjudged.Acquire(ctx, places); err != nil {
		return nil, err
	}
	return func() { h.unjudged.Release(places) }, nil
}

// passing is how many rows may still be passed over, nil for any number.
func (h *HiddenRows) passing() *Examination {
	if h == nil {
		return nil
	}
	return &h.rest
}
