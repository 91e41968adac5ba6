package pebblestore

import (
	"bytes"
	"encoding/binary"
	"strings"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// Keys of the engine:
//
//	row          table slot(0)    partition. sort
//	index entry  table slot(i+1)  partition. [sort.] partition-of-row. sort-of-row
//	end of a row table slot(last) end partition. sort
//
// table is the number that the dictionary gives a generation of a table, in four bytes; slot is two bytes. Numbers are
// big-endian. A text followed by a dot is escaped and terminated, which keeps the order of any bytes and makes no such
// text the beginning of another: a zero byte becomes 00 ff, the end is 00 01. The last text stands as it is.
const (
	headSize   = 6
	escape     = 0x00
	escaped    = 0xff
	terminator = 0x01
)

// endsSlot holds the rows that expire, in the order of expiry.
const endsSlot = 0xffff

func slot(index int) uint16 { return uint16(index + 1) } // driver.Primary is -1

func appendHead(dst []byte, table uint32, index int) []byte {
	dst = binary.BigEndian.AppendUint32(dst, table)
	return binary.BigEndian.AppendUint16(dst, slot(index))
}

// appendTerminated appends a text that another follows.
func appendTerminated(dst []byte, text string) []byte {
	return append(appendEscaped(dst, text), escape, terminator)
}

func appendEscaped(dst []byte, text string) []byte {
	for i := range len(text) {
		if dst = append(dst, text[i]); text[i] == escape {
			dst = append(dst, escaped)
		}
	}
	return dst
}

// terminatedSize is the size of a text that another follows.
func terminatedSize(text string) int { return len(text) + strings.Count(text, "\x00") + 2 }

func rowKeySize(k keys.Key) int { return headSize + terminatedSize(k.PK) + len(k.SK) }

// appendRowKey appends the key of a row.
func appendRowKey(dst []byte, table uint32, k keys.Key) []byte {
	dst = appendHead(dst, table, driver.Primary)
	dst = appendTerminated(dst, k.PK)
	return append(dst, k.SK...)
}

// tableOf is the number of the table that a key of the engine is of.
func tableOf(key []byte) uint32 { return binary.BigEndian.Uint32(key) }

// cutRowKey reads the key of a row from its key in the engine, whose memory it shares; ok is false where that is the
// key of something else.
func cutRowKey(key []byte) (k keys.Key, ok bool) {
	at, pk, sk, ok := cutPartition(key)
	return keys.Key{PK: pk, SK: textOf(sk)}, ok && at == slot(driver.Primary)
}

// cutPartition reads the slot of a row or an index entry, and its partition, from its key in the engine, whose memory
// they share; ok is false where that is the key of something else.
func cutPartition(key []byte) (at uint16, pk string, rest []byte, ok bool) {
	if len(key) < headSize {
		return 0, "", nil, false
	}
	if at = binary.BigEndian.Uint16(key[4:]); at == endsSlot {
		return at, "", nil, false
	}
	pk, rest, ok = cutTerminated(key[headSize:])
	return at, pk, rest, ok
}

// appendEntryKey appends the key of a row's entry in an index.
func appendEntryKey(dst []byte, table uint32, index int, sorted bool, x, row keys.Key) []byte {
	dst = appendHead(dst, table, index)
	dst = appendTerminated(dst, x.PK)
	if sorted {
		dst = appendTerminated(dst, x.SK)
	}
	dst = appendTerminated(dst, row.PK)
	return append(dst, row.SK...)
}

// endSize is the size of an end: eight bytes of seconds, which negative ones come first in, and four of nanoseconds.
const endSize = 12

// appendEnd appends what the keys of all rows that expire at the time begin with, in the order of expiry.
func appendEnd(dst []byte, table uint32, end time.Time) []byte {
	dst = binary.BigEndian.AppendUint32(dst, table)
	dst = binary.BigEndian.AppendUint16(dst, endsSlot)
	dst = binary.BigEndian.AppendUint64(dst, uint64(end.Unix())^(1<<63))
	return binary.BigEndian.AppendUint32(dst, uint32(end.Nanosecond()))
}

// appendEndKey appends the key of a row in the order of expiry.
func appendEndKey(dst []byte, table uint32, end time.Time, k keys.Key) []byte {
	dst = appendTerminated(appendEnd(dst, table, end), k.PK)
	return append(dst, k.SK...)
}

// cutEnd reads the row's key, and when it expires, from its key in the order of expiry.
func cutEnd(key []byte) (k keys.Key, end time.Time, ok bool) {
	if len(key) < headSize+endSize {
		return k, end, false
	}
	at := key[headSize:]
	end = time.Unix(int64(binary.BigEndian.Uint64(at)^(1<<63)), int64(binary.BigEndian.Uint32(at[8:]))).UTC()
	pk, sk, ok := cutTerminated(at[endSize:])
	return keys.Key{PK: pk, SK: textOf(sk)}, end, ok
}

// cutTerminated splits a terminated text off the front of a key; ok is false where there is none. The text shares the
// memory of the key.
func cutTerminated(key []byte) (text string, rest []byte, ok bool) {
	end := bytes.IndexByte(key, escape)
	if end < 0 || end+1 >= len(key) {
		return "", nil, false
	}
	if key[end+1] == terminator {
		return textOf(key[:end]), key[end+2:], true
	}
	return unescape(key)
}

// unescape is cutTerminated for a text with zero bytes in it.
func unescape(key []byte) (text string, rest []byte, ok bool) {
	var plain []byte
	for {
		at := bytes.IndexByte(key, escape)
		if at < 0 || at+1 >= len(key) {
			return "", nil, false
		}
		plain = append(plain, key[:at]...)
		mark := key[at+1]
		key = key[at+2:]
		switch mark {
		case terminator:
			return textOf(plain), key, true
		case escaped:
			plain = append(plain, escape)
		default:
			return "", nil, false
		}
	}
}

// span is a half-open interval of keys of the engine.
type span struct{ lower, upper []byte }

// spanOf returns the keys that a query selects, those before its Start left out.
func spanOf(table uint32, q *driver.Query) span {
	raw := q.Index == driver.Primary // sort keys of rows stand at the end, and unescaped
	base := appendTerminated(appendHead(nil, table, q.Index), q.PK)
	lo, hi, bounded := q.Range.Bounds()
	s := span{lower: appendBound(base, lo, raw)}
	if bounded {
		s.upper = appendBound(base, hi, raw)
	} else {
		s.upper = bytes.Clone(base)
		s.upper[len(base)-1]++ // past the terminator of the partition
	}
	if q.Start != nil {
		s.narrow(startKey(table, q), q.Reverse)
	}
	return s
}

func appendBound(base []byte, sk string, raw bool) []byte {
	bound := make([]byte, len(base), len(base)+len(sk)+8)
	copy(bound, base)
	if raw {
		return append(bound, sk...)
	}
	return appendEscaped(bound, sk)
}

// startKey is the key of the row, or of the entry, after which a page begins.
func startKey(table uint32, q *driver.Query) []byte {
	if q.Index == driver.Primary {
		return appendRowKey(nil, table, q.Start.Key)
	}
	return appendEntryKey(nil, table, q.Index, q.Table.Indexes[q.Index].Sorted(), q.Start.Index, q.Start.Key)
}

// narrow excludes the key, and what precedes it in the direction of the query.
func (s *span) narrow(start []byte, reverse bool) {
	if reverse {
		if bytes.Compare(start, s.upper) < 0 {
			s.upper = start
		}
		return
	}
	if next := append(start, 0); bytes.Compare(next, s.lower) > 0 {
		s.lower = next
	}
}

func (s *span) empty() bool { return bytes.Compare(s.lower, s.upper) >= 0 }
