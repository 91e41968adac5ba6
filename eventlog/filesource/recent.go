package filesource

import (
	"slices"
	"sync"

	"github.com/foldql/foldql/eventlog"
)

// recent are the blocks of events that were decoded last. Readers that follow one another through a file, as those of
// several projections do, find in them what the first one has decoded.
type recent struct {
	mu     sync.Mutex
	blocks []block // the newest is the last
	bytes  int
}

// block is every event after one position up to another.
type block struct {
	after, end uint64
	events     []eventlog.Event
	bytes      int
}

// recentBytes is how many bytes of events are kept for readers to come.
const recentBytes = 16 << 20

// find returns the events that are known to follow the position; there may be more.
func (r *recent) find(after uint64) []eventlog.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.blocks) - 1; i >= 0; i-- {
		b := &r.blocks[i]
		if after < b.after || after >= b.end {
			continue
		}
		first, _ := slices.BinarySearchFunc(b.events, after+1, func(e eventlog.Event, at uint64) int {
			if e.Offset < at {
				return -1
			}
			return 1
		})
		return b.events[first:]
	}
	return nil
}

// add keeps a block, and lets go of the oldest ones.
func (r *recent) add(b block) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.blocks = append(r.blocks, b)
	r.bytes += b.bytes
	for r.bytes > recentBytes {
		r.bytes -= r.blocks[0].bytes
		r.blocks[0] = block{}
		r.blocks = r.blocks[1:]
	}
}
