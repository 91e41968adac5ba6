// Package querydb stores rows and finds them again: by key, by ranges of one partition, or in one batch; never by a
// scan.
//
// A [DB] works in the same way on every store, over a small driver (package driver). It promises:
//
//   - A batch is durable when [DB.Apply] returns, and every consistent read that begins afterwards sees it. On a store
//     that several processes write to, a batch takes effect row by row unless it is Atomic: see [driver.MultiWriter].
//   - A page that [DB.Query] returns is full whenever the rows exist, and pages that follow one another neither miss a
//     row that stays nor return it twice.
//   - Rows that are still being folded are not served: reads fail with a [RebuildingError] until they are complete.
//   - An error matches at most one of a few, such as [ErrInvalid] and [ErrUnavailable], and says what it is about.
//
// To start, open a DB over a driver with the models that it is to hold, apply batches of writes, and read: the example
// of the package does all three. Generated code describes each read model by a [Model] and ties it to its Go type by a
// [Codec]; [Encode] and [KeyOf] turn rows into what is stored. [DB.Notes] keeps small records beside the rows;
// [DB.Generations], [DB.Rebuilds], [DB.Tables] and [DB.Expiry] are for whoever folds events into the rows.
//
// Limits, in bytes: a partition key 2,048, a sort key 1,024, a row 409,600 with its key and its index keys. A page has
// 1 to 1,000 rows.
package querydb
