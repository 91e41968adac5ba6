package pebblestore

import (
	"encoding/binary"
	"errors"
	"time"
	"unsafe"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// Values of the engine, numbers as varints and texts led by their length:
//
//	row          flags [expiry] [position [step]] indexes { halves [partition] [sort] } record
//	index entry  flags [expiry] record
//
// Expiry is seconds and nanoseconds, position is partition, offset and step.
const (
	hasExpiry   = 1 << 0
	hasPosition = 1 << 1
	hasStep     = 1 << 2

	hasPK = 1 << 0
	hasSK = 1 << 1
)

var errDamaged = errors.New("the stored row is damaged: restore the data directory, or fold the log anew into an empty one")

func appendRow(dst []byte, r *driver.Row) []byte {
	flags := byte(0)
	if r.Position != (driver.Position{}) {
		flags = hasPosition
	}
	if r.Position.Step > 0 {
		flags |= hasStep
	}
	dst = appendExpiry(dst, flags, r.Expires)
	if flags != 0 {
		dst = appendText(dst, r.Position.Partition)
		dst = binary.AppendUvarint(dst, r.Position.Offset)
	}
	if r.Position.Step > 0 {
		dst = binary.AppendUvarint(dst, uint64(r.Position.Step))
	}
	dst = binary.AppendUvarint(dst, uint64(len(r.Indexes)))
	for i := range r.Indexes {
		dst = appendIndexKey(dst, &r.Indexes[i])
	}
	return append(dst, r.Record...)
}

func appendEntry(dst []byte, expires time.Time, rec record.Record) []byte {
	return append(appendExpiry(dst, 0, expires), rec...)
}

func appendExpiry(dst []byte, flags byte, t time.Time) []byte {
	if t.IsZero() {
		return append(dst, flags)
	}
	dst = append(dst, flags|hasExpiry)
	dst = binary.AppendVarint(dst, t.Unix())
	return binary.AppendUvarint(dst, uint64(t.Nanosecond()))
}

func appendIndexKey(dst []byte, x *driver.IndexKey) []byte {
	halves := byte(0)
	if x.HasPK {
		halves |= hasPK
	}
	if x.HasSK {
		halves |= hasSK
	}
	dst = append(dst, halves)
	if x.HasPK {
		dst = appendText(dst, x.PK)
	}
	if x.HasSK {
		dst = appendText(dst, x.SK)
	}
	return dst
}

func appendText(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

// decoder reads a value from front to back. What it returns shares the memory of the value.
type decoder struct {
	rest []byte
	bad  bool
}

// row reads the value of a row; the index keys go into the memory that slab hands out.
func (d *decoder) row(r *driver.Row, slab *indexKeys) error {
	flags := d.byte()
	r.Expires = d.expiry(flags)
	if flags&hasPosition != 0 {
		r.Position.Partition = d.text()
		r.Position.Offset = d.uvarint()
	}
	if flags&hasStep != 0 {
		r.Position.Step = uint32(d.uvarint())
	}
	n := d.uvarint()
	if d.bad || n > uint64(len(d.rest)) {
		return errDamaged
	}
	r.Indexes = slab.take(int(n))
	for i := range r.Indexes {
		d.indexKey(&r.Indexes[i])
	}
	r.Record = d.record()
	return d.err()
}

// entry reads the value of an index entry.
func (d *decoder) entry(r *driver.Row) error {
	r.Expires = d.expiry(d.byte())
	r.Record = d.record()
	return d.err()
}

func (d *decoder) expiry(flags byte) time.Time {
	if flags&hasExpiry == 0 {
		return time.Time{}
	}
	seconds := d.varint()
	return time.Unix(seconds, int64(d.uvarint())).UTC()
}

func (d *decoder) indexKey(x *driver.IndexKey) {
	halves := d.byte()
	if x.HasPK = halves&hasPK != 0; x.HasPK {
		x.PK = d.text()
	}
	if x.HasSK = halves&hasSK != 0; x.HasSK {
		x.SK = d.text()
	}
}

func (d *decoder) record() record.Record {
	rec := record.Record(d.rest[:len(d.rest):len(d.rest)])
	d.bad = d.bad || !rec.Valid()
	return rec
}

func (d *decoder) text() string {
	n := d.uvarint()
	if n > uint64(len(d.rest)) {
		d.bad = true
		return ""
	}
	s := textOf(d.rest[:n])
	d.rest = d.rest[n:]
	return s
}

func (d *decoder) byte() byte {
	if len(d.rest) == 0 {
		d.bad = true
		return 0
	}
	b := d.rest[0]
	d.rest = d.rest[1:]
	return b
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	return uint64(d.number(int64(v), n))
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.rest)
	return d.number(v, n)
}

func (d *decoder) number(v int64, n int) int64 {
	if n <= 0 {
		d.bad = true
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) err() error {
	if d.bad {
		return errDamaged
	}
	return nil
}

// textOf is the bytes as a string without a copy. They belong to an answer, and nobody writes to them any more.
func textOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// memory hands out copies that belong to one answer. A page of rows is a few allocations and not one for each row.
type memory struct {
	free []byte
	rows int // that are expected still
}

const maxChunk = 64 << 10

func (m *memory) copy(b []byte) []byte {
	if len(b) > cap(m.free)-len(m.free) {
		m.free = make([]byte, 0, max(len(b), min(len(b)*max(m.rows, 1), maxChunk)))
	}
	at := len(m.free)
	m.free = append(m.free, b...)
	m.rows--
	return m.free[at:len(m.free):len(m.free)]
}

// indexKeys hands out the index keys of the rows of one answer.
type indexKeys struct {
	free []driver.IndexKey
	rows int // that are expected still
}

func (k *indexKeys) take(n int) []driver.IndexKey {
	if n == 0 {
		return nil
	}
	if n > len(k.free) {
		k.free = make([]driver.IndexKey, n*min(max(k.rows, 1), 64))
	}
	out := k.free[:n:n]
	k.free = k.free[n:]
	k.rows--
	return out
}
