package embeddedlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/internal/admit"
	"github.com/foldql/foldql/eventlog/internal/frame"
)

// records are what is stored, under the keys that the comment of the package lists.
type records struct{ db *pebble.DB }

const format = 1

var (
	formatKey      = []byte("f")
	incarnationKey = []byte("n")
)

func eventKey(offset uint64) []byte { return binary.BigEndian.AppendUint64([]byte("e"), offset) }

func identityKey(source, id string) []byte {
	key := make([]byte, 0, len(source)+len(id)+4)
	return append(frame.AppendText(append(key, 'i'), source), id...)
}

// checkFormat refuses a directory that was written in another format, and marks a new one.
func (r records) checkFormat() error {
	value, err := r.get(formatKey)
	switch {
	case err != nil:
		return err
	case value == nil:
		return r.create()
	case len(value) != 1 || value[0] != format:
		return fmt.Errorf("its format is %x, this program reads %x: use the version of the program that wrote it",
			value, []byte{format})
	}
	return nil
}

// create marks a new directory.
func (r records) create() error {
	batch := r.db.NewBatch()
	defer batch.Close()
	if err := batch.Set(formatKey, []byte{format}, nil); err != nil {
		return err
	}
	if err := batch.Set(incarnationKey, newIncarnation(), nil); err != nil {
		return err
	}
	return batch.Commit(pebble.Sync)
}

// end returns the offset of the last event.
func (r records) end() (last uint64, err error) {
	events, err := r.db.NewIter(&pebble.IterOptions{LowerBound: eventKey(1), UpperBound: formatKey})
	if err != nil {
		return 0, err
	}
	if events.Last() {
		last = binary.BigEndian.Uint64(events.Key()[1:])
	}
	return last, events.Close()
}

// write hands events to the store, in the order of the calls. Their sync is to be awaited, and the batch closed.
func (r records) write(events []eventlog.Event) (*pebble.Batch, error) {
	batch := r.db.NewBatch()
	if err := fill(batch, events); err != nil {
		return nil, err
	}
	return batch, r.db.ApplyNoSyncWait(batch, pebble.Sync)
}

// fill puts the events and what finds them into the batch.
func fill(batch *pebble.Batch, events []eventlog.Event) error {
	var stored []byte
	for i := range events {
		e := &events[i]
		key := eventKey(e.Offset)
		stored = frame.Append(stored[:0], e)
		if err := batch.Set(key, stored, nil); err != nil {
			return err
		}
		if err := batch.Set(identityKey(e.Source, e.ID), key[1:], nil); err != nil {
			return err
		}
	}
	return nil
}

// find looks an event up by what identifies it.
func (r records) find(source, id string) (*admit.Known, error) {
	value, err := r.get(identityKey(source, id))
	if value == nil || err != nil {
		return nil, err
	}
	offset := binary.BigEndian.Uint64(value)
	stored, err := r.get(eventKey(offset))
	if err != nil {
		return nil, err
	}
	e, err := frame.Parse(stored)
	if err != nil {
		return nil, fmt.Errorf("offset %d: %w", offset, err)
	}
	return &admit.Known{At: eventlog.AppendResult{Partition: Partition, Offset: offset}, Event: &e}, nil
}

// scan reads the events after one offset up to another, fewer where they are large.
func (r records) scan(after, upto uint64) (events []eventlog.Event, err error) {
	stored, err := r.db.NewIter(&pebble.IterOptions{LowerBound: eventKey(after + 1), UpperBound: eventKey(upto + 1)})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stored.Close()) }()
	events = make([]eventlog.Event, 0, min(upto-after, 4096))
	size, data := 0, pieces{}
	for ok := stored.First(); ok && size < readBytes; ok = stored.Next() {
		value, err := stored.ValueAndErr()
		if err != nil {
			return nil, err
		}
		e, err := frame.Parse(value)
		if err != nil {
			return nil, err
		}
		e.Data = data.copy(e.Data, upto-after-uint64(len(events)))
		e.Partition, e.Offset = Partition, binary.BigEndian.Uint64(stored.Key()[1:])
		if want := after + uint64(len(events)) + 1; e.Offset != want {
			return nil, fmt.Errorf("offset %d is missing: the log is damaged", want)
		}
		events = append(events, e)
		size += len(value)
	}
	return events, stored.Error()
}

// pieces are memory of the data of several events, which costs less than to take memory of each.
type pieces struct{ last []byte }

// pieceBytes is how large a piece is at most.
const pieceBytes = 64 << 10

// copy copies the data of the next of so many events that are maybe to come. Large data have memory of their own, so
// that little is left over.
func (p *pieces) copy(data []byte, of uint64) []byte {
	if len(data) > pieceBytes/16 {
		return bytes.Clone(data)
	}
	if len(data) > cap(p.last)-len(p.last) {
		p.last = make([]byte, 0, min(uint64(max(len(data), 1))*of, pieceBytes))
	}
	from := len(p.last)
	p.last = append(p.last, data...)
	return p.last[from:len(p.last):len(p.last)]
}

// get returns a copy of the value of the key, nil where there is none.
func (r records) get(key []byte) ([]byte, error) {
	value, closer, err := r.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	value = bytes.Clone(value)
	return value, closer.Close()
}
