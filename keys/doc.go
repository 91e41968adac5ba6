// Package keys composes the keys under which rows are stored, and seals page tokens.
//
// It is the one place that knows where a row is. Writers compose the key of a row with a [Layout], readers compose the
// bounds of a query with the same [Layout], so what one writes the other finds:
//
//	orders := keys.Layout{Sep: "/", Segments: []keys.Segment{
//		{Field: "category", Kind: keys.KindString},
//		{Field: "productId", Kind: keys.KindString},
//	}}
//	key, err := orders.Compose(keys.String("books"), keys.String("p-17")) // books/p-17
//
// # Keys
//
// A [Key] has two halves, a partition key and a sort key. Each half is text in one of three forms:
//
//	read model   order-123, prod/billing                     values, joined with a separator
//	entity       $app#v1#task#projectid_p1#status_active     [EntityKey]: a head, then name_value
//	template     team#t1#member#u7                           [ParseTemplate]: literals and {fields}
//
// A value that a half is composed of is a composite: a [Value] of one of the kinds of [Kind]. Every form promises:
//
//   - Order: numbers, booleans, dates and date-times sort as values wherever they stand in a half; strings sort by the
//     bytes of their text. (Numbers that a template does not pad sort as text.)
//   - Contiguity: keys that begin with the same composites are neighbours.
//   - Injectivity, up to casing: distinct composites never share a key. In a half of several segments a separator or
//     "%" inside a value is percent-escaped; a half that is one value alone is stored as it is. [EscapeNone] gives this
//     up.
//
// # Queries
//
// [Layout.Select] turns the leading composites of a query and a [Condition] on the next one into [Range]s of sort keys.
// [Layout.ParseOperands] does so for [Operands], which are text.
//
// # Indexes
//
// A write changes the stored key of each half of an index by a [HalfUpdate]. A full write knows every composite and
// asks [Layout.UpdateForPut] and [PairUpdates]; a patch knows some of them and asks [IndexHalf.UpdateForPatch], where a
// [Policy] decides about halves that cannot be composed.
//
// # Pages
//
// A [Cursor] says after which row a page begins. [Sealer] seals it as an opaque, encrypted token that is valid for one
// query and caller.
//
// The package imports the standard library alone. Text forms of single values are in keys/internal/encoding.
package keys
