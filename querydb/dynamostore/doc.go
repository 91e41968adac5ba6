// Package dynamostore keeps rows in DynamoDB: a table for each model, a global secondary index for each of its indexes.
//
// # How rows lie
//
// The table of a model is named by the prefix and the model's table name, a later generation of it ends in ".gN". The
// partition key is the attribute "id"; the sort key has the name of its field, or is "_subId" where it is made of
// several. Every field is an attribute of its own name. A half of an index that is one field of text is that field's
// attribute; any other has an attribute of its own, "_<index>_pk" or "_<index>_sk". So what is in the tables can be
// read by people and by other programs.
//
// A row comes back as it was stored, to the byte. Where an attribute cannot hold a field's value, because it holds the
// text of a key or because DynamoDB has no such number, the value is in the map "_own" instead.
//
// # How writes take effect once
//
// A row keeps the last position of each partition that was applied to it ("_pos.<slot>"), whose it was ("_by"), and how
// many writes there were ("_rev"). A write is one UpdateItem under a condition on these, so it takes effect once
// however often it is sent: see change. A deleted row leaves a tombstone with the same knowledge, which is in no index,
// and which DynamoDB removes by its "_ttl" 30 days later. What could be sent again after that is not: a batch has a
// deadline.
//
// Replacing whole items would be simpler, but a writer does not know the positions of other partitions and writers, and
// would lose them. So a table whose rows do not fit into one update expression, of some 500 fields, is refused.
//
// # How writers share a row
//
// A row that several projections write has their names in the set "_writers", and is gone when that is empty. An update
// sets what the writer's part is made of, and nothing else. Where what it is to do depends on the item, it is made for
// one in some state, under a condition, and made again where the item is in another.
//
// # How models share a table
//
// The attributes of keys and kind have the names that the schema gives them. An item that says no kind is of the one
// asked for; no row is written over one of another kind.
//
// A key of a unique index is an item of its own, under a partition key that no row has, and names the row in "_of". It
// is put and deleted in the transaction that changes the row, which is read before.
//
// # How requests are sent
//
// As many requests as the Config says are in flight, on as many connections. The SDK sends each once; what is
// throttled, in conflict or not answered is sent again by this package, with exponential backoff and full jitter, for
// as long as the Config says, until the context ends, and not after the batch's deadline. Keys that DynamoDB leaves
// unprocessed are asked for again.
//
// Reads of the table are strongly consistent where that is asked for. Reads of an index are eventually consistent:
// DynamoDB has no others.
package dynamostore
