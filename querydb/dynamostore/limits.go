package dynamostore

// Limits of DynamoDB.
const (
	mostItem        = 400 * 1024      // bytes of an item
	mostTransaction = 4 * 1024 * 1024 // bytes of the items of a transaction
	mostActions     = 100             // items of a transaction
	mostKeys        = 100             // keys of a BatchGetItem
)

// mostRow bounds what a change makes of an item. It does not know of the positions of other partitions, of which some
// hundred have room beside it.
const mostRow = mostItem - 4*1024
