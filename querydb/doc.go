// Package querydb stores rows and finds them again: by key, by one range of one partition, or in one batch; never by a
// scan.
//
// A [DB] is one concrete type over a thin driver (package driver). Generated code describes each read model by a
// [Model] and ties it to its Go type by a [Codec]; [Encode] and [KeyOf] turn rows into what is stored, and DB writes
// and reads it. What holds on every store is written once here: which keys and rows are allowed, how errors look, how a
// page of an index is completed from the table, which generation of a table serves, and what is counted.
//
// Limits, in bytes: a partition key 2,048, a sort key 1,024, a row 409,600 with its key and its index keys. A page has
// 1 to 1,000 rows.
package querydb
