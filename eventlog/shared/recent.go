package shared

import (
	"cmp"
	"slices"

	"github.com/foldql/foldql/eventlog"
)

// recent are the blocks of events that were read last.
type recent struct {
	limit, bytes int
	of           map[string][]block // by partition, the newest last
	oldest       []string           // the partitions of all blocks, in the order in which they came
}

// block is every event that follows a position, up to the last of them.
type block struct {
	after  uint64
	events []eventlog.Event
	bytes  int
}

func (b *block) end() uint64 { return b.events[len(b.events)-1].Offset }

// find returns the events that are known to follow the place, nil where none are; there may be more.
func (r *recent) find(at place) []eventlog.Event {
	of := r.of[at.partition]
	for i := len(of) - 1; i >= 0; i-- {
		b := &of[i]
		if at.after < b.after || at.after >= b.end() {
			continue
		}
		from, _ := slices.BinarySearchFunc(b.events, at.after+1, func(e eventlog.Event, offset uint64) int {
			return cmp.Compare(e.Offset, offset)
		})
		return b.events[from:]
	}
	return nil
}

// endsAt reports whether events are known up to the place, and none behind it.
func (r *recent) endsAt(at place) bool {
	return slices.ContainsFunc(r.of[at.partition], func(b block) bool { return b.end() == at.after })
}

// mergedEvents is how many events a block has at most that others were added to: new events often come one by one.
const mergedEvents = 256

// add keeps the events that follow the place, and lets go of the oldest blocks.
func (r *recent) add(at place, events []eventlog.Event) {
	of, bytes := r.of[at.partition], sizeOf(events)
	r.bytes += bytes
	if last := len(of) - 1; last >= 0 && of[last].end() == at.after && len(of[last].events)+len(events) <= mergedEvents {
		of[last].events = append(of[last].events, events...) // nobody was given what is behind its end
		of[last].bytes += bytes
	} else {
		r.of[at.partition] = append(of, block{at.after, slices.Clip(events), bytes})
		r.oldest = append(r.oldest, at.partition)
	}
	for r.bytes > r.limit && len(r.oldest) > 1 {
		r.drop()
	}
}

// drop lets go of the oldest block.
func (r *recent) drop() {
	partition := r.oldest[0]
	of := r.of[partition]
	r.bytes -= of[0].bytes
	of[0] = block{} // the memory of the list stays for some time
	r.of[partition], r.oldest = of[1:], r.oldest[1:]
}

// forget lets go of all blocks of a partition.
func (r *recent) forget(partition string) {
	for _, b := range r.of[partition] {
		r.bytes -= b.bytes
	}
	delete(r.of, partition)
	r.oldest = slices.DeleteFunc(r.oldest, func(p string) bool { return p == partition })
}

// eventBytes and extensionBytes are about what an event, and each of its extensions, takes beside its texts.
const eventBytes, extensionBytes = 200, 50

// sizeOf counts all that whoever sent the events could make long.
func sizeOf(events []eventlog.Event) (bytes int) {
	for i := range events {
		e := &events[i]
		bytes += eventBytes + len(e.Data) + len(e.ID) + len(e.Source) + len(e.Type) + len(e.Subject) +
			len(e.PartitionKey) + len(e.DataSchema) + len(e.Envelope) + len(e.MessageHash)
		if e.Malformed != nil {
			bytes += len(e.Malformed.Error())
		}
		for name, value := range e.Extensions {
			bytes += extensionBytes + len(name) + len(value)
		}
	}
	return bytes
}
