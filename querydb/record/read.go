package record

import "time"

// The functions below turn the JSON text of a field back into its Go value. ok is false where the text is not of that
// type, as in a record of an older schema.

// String reads a string, ID or enum.
func String(json []byte) (s string, ok bool) { panic("record: to be written") }

// Boolean reads a boolean.
func Boolean(json []byte) (v, ok bool) { panic("record: to be written") }

// Int reads an Int.
func Int(json []byte) (v int, ok bool) { panic("record: to be written") }

// Int64 reads an Int64.
func Int64(json []byte) (v int64, ok bool) { panic("record: to be written") }

// Float reads a Float.
func Float(json []byte) (v float64, ok bool) { panic("record: to be written") }

// DateTime reads a DateTime.
func DateTime(json []byte) (v time.Time, ok bool) { panic("record: to be written") }

// List calls each with the JSON text of every element in turn until each returns false; ok is false where the text is
// not a list or each stopped.
func List(json []byte, each func(elem []byte) bool) (ok bool) { panic("record: to be written") }
