// Package querydb keeps the rows of read models.
//
// A [DB] is one type over a driver of four methods; whatever holds for every store is done here once. What it promises:
//
//   - Rows of a partition, and of an index, come in the byte order of their sort key, in either direction.
//   - A row is in an index if and only if every half that the index has is present.
//   - A page is full whenever its rows exist, and its token stays right while rows come and go.
//   - A batch, with the checkpoint that it carries, survives the loss of power once Apply has returned; on the embedded
//     store it is there whole or not at all.
//   - Applying a batch again changes nothing.
//
// Rows are described by generated [Model] values and travel as records, the JSON text of their fields; a generated
// [Codec] turns them into Go types where Go code wants them.
package querydb
