package mirror

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/internal/frame"
)

// records are what is stored, under the keys that the comment of the package lists.
type records struct {
	db *pebble.DB
	// unmarked says that this format is not on record yet, as the directory is new or of a former program.
	unmarked  bool
	fromFirst bool // as in Options
}

// standing is how far a partition is copied.
type standing struct {
	// Begin is the offset after which the copy begins: what was up to there, the source had forgotten before.
	Begin   uint64 `json:"begin,omitempty"`
	Through uint64 `json:"through"`        // offset up to which the copy is whole
	Head    uint64 `json:"head,omitempty"` // that the source is known to have reached
	// Incarnation is that of the partition of the source.
	Incarnation string `json:"incarnation,omitempty"`
}

// content is what is copied.
type content struct {
	partitions map[string]standing
	// partial says that there may be partitions that are not among them, because the source has never been copied without
	// an error yet.
	partial bool
}

// known is the last offset that the source is known to have.
func (s *standing) known() uint64 { return max(s.Head, s.Through) }

// A program reads the format that it writes, and the former one, which had no wholeKey: whether a copy of that is whole
// is not known.
const (
	format       = 2
	formerFormat = 1
)

var (
	formatKey = []byte("f")
	wholeKey  = []byte("w")
	// formerPartialKey told, in the former form, that a copy was not whole. The first programs did not write it.
	formerPartialKey = []byte("i")
)

const (
	eventPrefix    = 'e'
	standingPrefix = 'p'
)

func eventKey(partition string, offset uint64) []byte {
	key := frame.AppendText(append(make([]byte, 0, len(partition)+12), eventPrefix), partition)
	return binary.BigEndian.AppendUint64(key, offset)
}

func standingKey(partition string) []byte { return append([]byte{standingPrefix}, partition...) }

func offsetOf(key []byte) uint64 { return binary.BigEndian.Uint64(key[len(key)-8:]) }

// load reads what is copied, and writes nothing. It refuses a directory of another format.
func (r *records) load() (c content, err error) {
	if err := r.checkFormat(); err != nil {
		return c, err
	}
	whole, err := r.get(wholeKey)
	if err != nil {
		return c, err
	}
	c.partial = whole == nil
	c.partitions, err = r.standings()
	return c, err
}

// setWhole says that every partition of the source is there.
func (r *records) setWhole() (err error) {
	batch := r.db.NewBatch()
	defer func() { err = errors.Join(err, batch.Close()) }()
	if err := batch.Set(wholeKey, []byte{1}, nil); err != nil {
		return err
	}
	return r.commit(batch)
}

// get returns a copy of the value of the key, nil where there is none.
func (r *records) get(key []byte) ([]byte, error) {
	value, closer, err := r.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return bytes.Clone(value), closer.Close()
}

func (r *records) standings() (copied map[string]standing, err error) {
	all, err := r.db.NewIter(&pebble.IterOptions{LowerBound: standingKey(""), UpperBound: []byte{standingPrefix + 1}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, all.Close()) }()
	copied = map[string]standing{}
	for ok := all.First(); ok; ok = all.Next() {
		var s standing
		name := string(all.Key()[1:])
		if err := json.Unmarshal(all.Value(), &s); err != nil {
			return nil, fmt.Errorf("read how far partition %q is copied: %w", name, err)
		}
		if r.fromFirst && s.Begin == 0 {
			if s.Begin, err = r.leftOut(name, s.Through); err != nil {
				return nil, err
			}
		}
		copied[name] = s
	}
	return copied, all.Error()
}

// leftOut is the offset before the first event that is copied, 0 where none is.
func (r *records) leftOut(partition string, through uint64) (uint64, error) {
	first, err := r.next(partition, 0, through)
	if err != nil || first == 0 {
		return 0, err
	}
	return first - 1, nil
}

// checkFormat refuses a directory of another format.
func (r *records) checkFormat() error {
	value, err := r.get(formatKey)
	switch {
	case err != nil:
		return err
	case value == nil, bytes.Equal(value, []byte{formerFormat}):
		r.unmarked = true
	case !bytes.Equal(value, []byte{format}):
		return fmt.Errorf("its format is %x, this program reads %x: use the version of the program that wrote it, or move "+
			"the directory away for another copy", value, []byte{format})
	}
	return nil
}

// commit syncs a batch to disk. With the first one the directory has this format, so that former programs, which could
// not read what is written, refuse it; until then they can be gone back to.
func (r *records) commit(batch *pebble.Batch) error {
	if r.unmarked {
		err := errors.Join(batch.Set(formatKey, []byte{format}, nil), batch.Delete(formerPartialKey, nil))
		if err != nil {
			return err
		}
	}
	if err := batch.Commit(pebble.Sync); err != nil {
		return err
	}
	r.unmarked = false
	return nil
}

// write writes events of a partition and how far it is copied with them, all or nothing, and syncs them to disk.
func (r *records) write(partition string, events []eventlog.Event, s standing) (err error) {
	batch := r.db.NewBatch()
	defer func() { err = errors.Join(err, batch.Close()) }()
	var stored []byte
	for i := range events {
		stored = appendEvent(stored[:0], &events[i])
		if err := batch.Set(eventKey(partition, events[i].Offset), stored, nil); err != nil {
			return err
		}
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := batch.Set(standingKey(partition), text, nil); err != nil {
		return err
	}
	return r.commit(batch)
}

// readBytes is how many bytes of events one read returns at most, give or take the last one.
const readBytes = 16 << 20

// scan reads the events after one offset up to another, so many at most, and fewer where they are large.
func (r *records) scan(partition string, after, through uint64, most int) (events []eventlog.Event, err error) {
	stored, err := r.iterate(partition, after, through)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stored.Close()) }()
	size := 0
	for ok := stored.First(); ok && len(events) < most && size < readBytes; ok = stored.Next() {
		e, err := eventAt(stored, partition)
		if err != nil {
			return nil, err
		}
		if events == nil {
			events = make([]eventlog.Event, 0, min(uint64(most), through-after, 4096))
		}
		events = append(events, e)
		size += len(e.Data) + len(e.Envelope)
	}
	return events, stored.Error()
}

func (r *records) iterate(partition string, after, through uint64) (*pebble.Iterator, error) {
	return r.db.NewIter(&pebble.IterOptions{LowerBound: eventKey(partition, after+1),
		UpperBound: eventKey(partition, through+1)})
}

// next is the offset of the first event after one offset and up to another, 0 where there is none.
func (r *records) next(partition string, after, through uint64) (offset uint64, err error) {
	stored, err := r.iterate(partition, after, through)
	if err != nil {
		return 0, err
	}
	if stored.First() {
		offset = offsetOf(stored.Key())
	}
	return offset, errors.Join(stored.Error(), stored.Close())
}

// mostMalformed is how many events at the end of a copy are looked through for one that is not malformed.
const mostMalformed = 1000

// last is the last event of a partition that is not malformed, nil where there is none near the end.
func (r *records) last(partition string, through uint64) (e *eventlog.Event, err error) {
	stored, err := r.iterate(partition, 0, through)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stored.Close()) }()
	seen := 0
	for ok := stored.Last(); ok && seen < mostMalformed; ok = stored.Prev() {
		one, err := eventAt(stored, partition)
		if err != nil || one.Malformed == nil {
			return &one, err
		}
		seen++
	}
	return nil, stored.Error()
}

// What a stored event begins with. Another of these makes another format, so that former programs refuse the copy.
const (
	wellFormed = 0
	malformed  = 1
	mapped     = 2
	enveloped  = 3
)

// appendEvent appends the stored form of an event: a byte that says whether it is malformed, where it is the reason,
// led by its length, and the frame. Before these stand, where a mapping has made the event, a byte that says so and its
// MessageHash, led by its length; and then, where it has one, a byte that says so and its Envelope, led by its length.
func appendEvent(dst []byte, e *eventlog.Event) []byte {
	if e.MessageHash != "" {
		dst = frame.AppendText(append(dst, mapped), e.MessageHash)
	}
	if len(e.Envelope) > 0 {
		dst = frame.AppendText(append(dst, enveloped), string(e.Envelope))
	}
	if e.Malformed == nil {
		return frame.Append(append(dst, wellFormed), e)
	}
	return frame.Append(frame.AppendText(append(dst, malformed), e.Malformed.Error()), e)
}

// eventAt reads the event that the iterator stands at.
func eventAt(stored *pebble.Iterator, partition string) (eventlog.Event, error) {
	value, err := stored.ValueAndErr()
	if err != nil {
		return eventlog.Event{}, err
	}
	offset := offsetOf(stored.Key())
	e, err := parseEvent(bytes.Clone(value))
	if err != nil {
		return e, fmt.Errorf("offset %d: %w", offset, err)
	}
	e.Partition, e.Offset = partition, offset
	return e, nil
}

var (
	errDamaged = errors.New("the stored event is damaged")
	errLater   = errors.New("the stored event has a form that this program does not know: use the version of the " +
		"program that wrote it, or a later one")
)

// parseEvent reads a stored event. Its data share the memory of b.
func parseEvent(b []byte) (e eventlog.Event, err error) {
	var hash, envelope string
	hash, b, err = textAfter(mapped, b)
	if err != nil {
		return e, err
	}
	envelope, b, err = textAfter(enveloped, b)
	if err != nil {
		return e, err
	}
	switch {
	case len(b) == 0, b[0] == mapped, b[0] == enveloped: // out of order
		return e, errDamaged
	case b[0] > enveloped:
		return e, errLater
	}
	kind, b := b[0], b[1:]
	var reason error
	if kind == malformed {
		var text string
		if text, b, err = textOf(b); err != nil {
			return e, err
		}
		reason = errors.New(text)
	}
	e, err = frame.Parse(b)
	e.Malformed, e.MessageHash = reason, hash
	if envelope != "" {
		e.Envelope = []byte(envelope)
	}
	return e, err
}

// textAfter reads the text after a byte that says what it is, "" where the byte is another.
func textAfter(kind byte, b []byte) (text string, rest []byte, err error) {
	if len(b) == 0 || b[0] != kind {
		return "", b, nil
	}
	return textOf(b[1:])
}

// textOf reads a text that is led by its length, and returns what follows it.
func textOf(b []byte) (text string, rest []byte, err error) {
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return "", nil, errDamaged
	}
	return string(b[n : n+int(size)]), b[n+int(size):], nil
}
