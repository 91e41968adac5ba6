package record

import "time"

// Builder makes records, one after the other, in one buffer. Fields are appended in the order of the model, each
// exactly once. The zero Builder is ready for Begin.
type Builder struct {
	buf  []byte
	ends []uint32
}

// Begin starts a record of n fields.
func (b *Builder) Begin(n int) { panic("record: to be written") }

// Null appends an absent field.
func (b *Builder) Null() { panic("record: to be written") }

// String appends a string, ID or enum.
func (b *Builder) String(s string) { panic("record: to be written") }

// Boolean appends a boolean.
func (b *Builder) Boolean(v bool) { panic("record: to be written") }

// Int appends an Int; it is a JSON number. Values outside of 32 bits make Finish fail.
func (b *Builder) Int(v int) { panic("record: to be written") }

// Int64 appends an Int64; it is a JSON string, because JSON numbers lose digits in clients.
func (b *Builder) Int64(v int64) { panic("record: to be written") }

// Float appends a Float; NaN and the infinities make Finish fail.
func (b *Builder) Float(v float64) { panic("record: to be written") }

// DateTime appends a DateTime as keys.AppendDateTime writes it; years outside 0000 to 9999 make Finish fail.
func (b *Builder) DateTime(v time.Time) { panic("record: to be written") }

// BeginList starts a list field; elements follow by the methods above (a list has no absent elements); EndList ends it.
func (b *Builder) BeginList() { panic("record: to be written") }

// EndList ends a list field.
func (b *Builder) EndList() { panic("record: to be written") }

// Finish returns the record in memory of its own. It fails where a value cannot be stored; field is the ordinal of the
// first such field.
func (b *Builder) Finish() (rec Record, field int, err error) { panic("record: to be written") }
