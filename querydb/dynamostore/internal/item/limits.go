package item

// Limits of DynamoDB.
const (
	mostItem        = 400 * 1024      // bytes of an item
	MostExpression  = 4096            // bytes of an expression
	MostTransaction = 4 * 1024 * 1024 // bytes of the items of a transaction
	MostActions     = 100             // items of a transaction
	MostKeys        = 100             // keys of a BatchGetItem
)

// MostRow bounds what a change makes of an item. It does not know of the positions of other partitions, of which some
// hundred have room beside it.
const MostRow = mostItem - 4*1024
