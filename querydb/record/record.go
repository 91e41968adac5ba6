// Package record is the stored form of a row: its fields in the order of the model, each kept as the JSON text that the
// API answers with. One field is read, and written into a response, without touching the others; nothing is parsed on
// the way from the store to the client.
//
// The form: one byte of version, the number of fields, the end offset of each field, then the JSON texts end to end. A
// field without text is absent, which the API shows as null. An object is written as the list of the values of its
// fields, in the order of its type, null where one is absent. Numbers are little-endian and of two bytes; the end
// offsets have four where the texts take more than 64 KB, which the version says. In memory, an object may be a record
// within the record: see [Builder.BeginRecord].
//
// A record never changes once it is made. Strings that are read from it share its memory.
package record

import (
	"encoding/binary"
	"math"
)

// Record is one stored row: the JSON texts of its fields.
type Record []byte

// The versions of the form.
const (
	narrow = 1 // end offsets of two bytes
	wide   = 2 // end offsets of four bytes
)

const (
	headSize  = 3
	maxFields = math.MaxUint16
	maxNarrow = math.MaxUint16
)

// Len returns the number of fields.
func (r Record) Len() int { return int(binary.LittleEndian.Uint16(r[1:])) }

// JSON returns the JSON text of field i; nil where the field is absent, or the record has fewer fields. The text is
// part of the record, and must not be changed.
func (r Record) JSON(i int) []byte {
	n := r.Len()
	if i < 0 || i >= n {
		return nil
	}
	body := headSize + n*r.width()
	start, end := body, body+r.end(i)
	if i > 0 {
		start += r.end(i - 1)
	}
	if start == end {
		return nil
	}
	return r[start:end:end]
}

// Valid reports whether the bytes have the form of a record. The other methods are for valid records alone.
func (r Record) Valid() bool {
	if len(r) < headSize || r[0] != narrow && r[0] != wide {
		return false
	}
	n := r.Len()
	body := headSize + n*r.width()
	if len(r) < body {
		return false
	}
	last := 0
	for i := range n {
		end := r.end(i)
		if end < last || end > len(r)-body {
			return false
		}
		last = end
	}
	return last == len(r)-body
}

// width is the size of an end offset.
func (r Record) width() int {
	if r[0] == wide {
		return 4
	}
	return 2
}

// end returns where the text of field i ends, counted from where the texts begin.
func (r Record) end(i int) int {
	if r[0] == wide {
		return int(binary.LittleEndian.Uint32(r[headSize+4*i:]))
	}
	return int(binary.LittleEndian.Uint16(r[headSize+2*i:]))
}

// Project returns the record with only some of its fields: the others are absent, and every field keeps its ordinal.
// It is what an index entry carries. fields are ascending ordinals.
func Project(r Record, fields []int) Record {
	n, size, next := r.Len(), 0, 0
	for _, f := range fields {
		size += len(r.JSON(f))
	}
	out := makeRecord(n, size)
	body := len(out)
	for i := range n {
		if next < len(fields) && fields[next] == i {
			out = append(out, r.JSON(i)...)
			next++
		}
		out.setEnd(i, len(out)-body)
	}
	return out
}

// makeRecord makes the head of a record of n fields whose texts will take size bytes.
func makeRecord(n, size int) Record {
	version, width := byte(narrow), 2
	if size > maxNarrow {
		version, width = wide, 4
	}
	body := headSize + n*width
	r := make(Record, body, body+size)
	r[0] = version
	binary.LittleEndian.PutUint16(r[1:], uint16(n))
	return r
}

func (r Record) setEnd(i, end int) {
	if r[0] == wide {
		binary.LittleEndian.PutUint32(r[headSize+4*i:], uint32(end))
		return
	}
	binary.LittleEndian.PutUint16(r[headSize+2*i:], uint16(end))
}
