// Package record is the stored form of a row: its fields in the order of the model, each kept as the JSON text that the
// API answers with. One field is read, and written into a response, without touching the others; nothing is parsed on
// the way from the store to the client.
//
// The form: one byte of version, the number of fields, the end offset of each field, then the JSON texts end to end. A
// field without text is absent, which the API shows as null.
package record

// Record is one stored row.
type Record []byte

// Len returns the number of fields.
func (r Record) Len() int { panic("record: to be written") }

// JSON returns the JSON text of field i, nil where the field is absent. The text is part of the record.
func (r Record) JSON(i int) []byte { panic("record: to be written") }

// Valid reports whether the bytes have the form of a record, so that no later call can read outside of it.
func (r Record) Valid() bool { panic("record: to be written") }
