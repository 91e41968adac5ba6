package execute

import (
	"context"
	"github.com/foldql/foldql/graph/internal/read"
)

// meter counts what an answer takes while it is written, and stops it where it is too large, or too late.
type meter struct {
	ctx     context.Context
	errs    read.Errors
	limit   Limit
	objects int // and errors, each for ErrorObjects
	look    int // at how many of them to look next
	room    int // bytes that there may be before memory is asked for more
	bytes   int // that there may be
	stopped error
}

// An answer asks for memory beyond what each has, in steps. It is twice what is written: as it grows it is copied.
const (
	firstRoom = 64 << 10
	moreRoom  = 128 << 10
	Copies    = 2
)

// LookEvery is after how many objects it is looked whether there is time and room for more.
const LookEvery = 256

func newMeter(ctx context.Context, errs read.Errors, limit Limit) meter {
	return meter{ctx: ctx, errs: errs, limit: limit, room: firstRoom, bytes: int(limit), look: LookEvery}
}

// largeText is from how many bytes on a text is asked for by itself: an object may have many of them.
const largeText = 16 << 10

// mayGoOn reports whether one more object may be written behind so many bytes. It is asked for each.
func (m *meter) mayGoOn(written int) bool {
	m.objects++
	return m.objects < m.look && written <= min(m.room, m.bytes) || m.stop(written) == nil
}

// stop returns why the answer must not become longer, if that is so.
func (m *meter) stop(written int) error {
	switch err := m.ctx.Err(); {
	case m.stopped != nil:
	case err != nil:
		m.stopped = ErrOutOfTime(m.ctx, m.errs, err)
	case m.tooLarge(written):
		m.stopped = m.limit.ErrTooLarge()
	case written > m.room:
		m.stopped = Reserve(m.ctx, Copies*(written-m.room+moreRoom))
		m.room = written + moreRoom
	}
	m.look = m.objects + LookEvery
	if m.stopped != nil {
		m.look = 0
	}
	return m.stopped
}

func (m *meter) tooLarge(written int) bool { return written > m.bytes || m.objects > m.limit.Objects() }

// countError counts an error at a path.
func (m *meter) countError(path []step) {
	m.objects += ErrorObjects
	m.room -= errorBytes
	for _, s := range path {
		m.bytes, m.room = m.bytes-len(s.key), m.room-len(s.key)
	}
}
