// Package keys composes the keys under which rows live.
//
// It is the one place that knows where a row is: the write side composes a row's key with it, the read side composes
// the operands of a query with it, and both use the same [Layout].
//
// A key half is text, in one of three forms:
//
//	read model   order-123, prod/billing                     the values, joined
//	entity       $app#v1#task#projectid_p1#status_active     [EntityKey]: a head, then name_value
//	template     team#t1#member#u7                           [Template]: literals and {attributes}
//
// What the encoding promises, in each form, each promise with a property test and a fuzz target:
//
//   - Ordered: numbers, booleans, dates and date-times sort as values wherever they stand in a half; strings sort by
//     the bytes of their text. (Numbers that a template leaves unpadded sort as text.)
//   - Contiguous: all keys that begin with the same composites lie together, and more composites extend the key of
//     fewer.
//   - Injective, up to casing: distinct composites never share a key. In a half of more than one segment a separator or
//     "%" inside a value is percent-escaped; a half that is one bare value is stored as it is. A layout with EscapeNone
//     gives this promise up.
//
// [Layout.Select] turns what a query gives of the composites into ranges of sort keys. What a write does to the keys of an
// index is told by [Layout.Put] and [Together] where it knows all composites, by [Half.Patch] where it knows some.
//
// The package imports the standard library alone.
package keys
