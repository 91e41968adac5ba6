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
//	row          flags [expiry] [kind] [position [step]] [writers { writer }]
//	             indexes { halves [partition] [sort] } record
//	index entry  flags [expiry] [kind] record
//	end of a row [kind]
//
// Expiry is seconds and nanoseconds, position is partition, offset and step; that of an end is its key's, and its kind
// is not led by a length.
const (
	hasExpiry   = 1 << 0
	hasPosition = 1 << 1
	hasStep     = 1 << 2
	hasKind     = 1 << 3
	hasWriters  = 1 << 4

	hasPK = 1 << 0
	hasSK = 1 << 1
)

var errDamaged = errors.New("the stored row is damaged: restore the data directory, or rebuild into " +
	"an empty one")

func appendRow(dst []byte, kind string, r *driver.Row) []byte {
	flags := byte(0)
	if r.Position != (driver.Position{}) {
		flags = hasPosition
	}
	if r.Position.Step > 0 {
		flags |= hasStep
	}
	if len(r.Writers) > 0 {
		flags |= hasWriters
	}
	dst = appendHeader(dst, flags, r.Expires, kind)
	if flags&hasPosition != 0 {
		dst = appendText(dst, r.Position.Partition)
		dst = binary.AppendUvarint(dst, r.Position.Offset)
	}
	if r.Position.Step > 0 {
		dst = binary.AppendUvarint(dst, uint64(r.Position.Step))
	}
	if len(r.Writers) > 0 {
		dst = appendTexts(dst, r.Writers)
	}
	dst = binary.AppendUvarint(dst, uint64(len(r.Indexes)))
	for i := range r.Indexes {
		dst = appendIndexKey(dst, &r.Indexes[i])
	}
	return append(dst, r.Record...)
}

func appendEntry(dst []byte, kind string, expires time.Time, rec record.Record) []byte {
	return append(appendHeader(dst, 0, expires, kind), rec...)
}

// appendHeader appends what rows and entries begin with.
func appendHeader(dst []byte, flags byte, expires time.Time, kind string) []byte {
	if !expires.IsZero() {
		flags |= hasExpiry
	}
	if kind != "" {
		flags |= hasKind
	}
	dst = append(dst, flags)
	if !expires.IsZero() {
		dst = binary.AppendVarint(dst, expires.Unix())
		dst = binary.AppendUvarint(dst, uint64(expires.Nanosecond()))
	}
	if kind != "" {
		dst = appendText(dst, kind)
	}
	return dst
}

func appendTexts(dst []byte, list []string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	for _, s := range list {
		dst = appendText(dst, s)
	}
	return dst
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
	var flags byte
	flags, r.Expires, r.Kind = d.head()
	if flags&hasPosition != 0 {
		r.Position.Partition = d.text()
		r.Position.Offset = d.uvarint()
	}
	if flags&hasStep != 0 {
		r.Position.Step = uint32(d.uvarint())
	}
	if flags&hasWriters != 0 {
		r.Writers = d.texts()
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
	_, r.Expires, r.Kind = d.head()
	r.Record = d.record()
	return d.err()
}

// head reads what rows and entries begin with.
func (d *decoder) head() (flags byte, expires time.Time, kind string) {
	flags = d.byte()
	if flags&hasExpiry != 0 {
		seconds := d.varint()
		expires = time.Unix(seconds, int64(d.uvarint())).UTC()
	}
	if flags&hasKind != 0 {
		kind = d.text()
	}
	return flags, expires, kind
}

func (d *decoder) texts() []string {
	n := d.uvarint()
	if n > uint64(len(d.rest)) {
		d.bad = true
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = d.text()
	}
	return list
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
	all  []driver.IndexKey // what free is the rest of
	free []driver.IndexKey
	rows int // that are expected still
	held int // in memory
}

// maxKeyChunk bounds how many indexKeys allocates at once, unless one row has more.
const maxKeyChunk = maxChunk / int(unsafe.Sizeof(driver.IndexKey{}))

func (k *indexKeys) take(n int) []driver.IndexKey {
	if n == 0 {
		return nil
	}
	if n > len(k.free) {
		k.free = make([]driver.IndexKey, max(n, min(n*min(max(k.rows, 1), 64), maxKeyChunk)))
		k.all = k.free
		k.held += len(k.all)
	}
	out := k.free[:n:n]
	k.free = k.free[n:]
	k.rows--
	return out
}

// emptied is like that of memory.
func (k *indexKeys) emptied() indexKeys {
	clear(k.all[:len(k.all)-len(k.free)])
	return indexKeys{all: k.all, free: k.all}
}
