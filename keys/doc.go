// Package keys composes the keys under which rows live.
//
// It is the one place that knows where a row is: the write side composes a row's key with it, the read side composes
// the operands of a query with it, and both use the same [Layout].
//
// A key half is text. What the encoding promises, each promise with a property test and a fuzz target:
//
//   - Ordered: numbers, booleans, dates and date-times sort as values wherever they stand in a half; strings sort by
//     the bytes of their text.
//   - Contiguous: all keys that begin with the same composites lie together, and more composites extend the key of
//     fewer.
//   - Injective: distinct composites never share a key. In a half of more than one segment a separator or "%" inside a
//     value is percent-escaped; a half that is one bare value is stored as it is.
//
// The package imports the standard library alone.
package keys
