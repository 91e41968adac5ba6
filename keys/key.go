package keys

// Key says where a row lives in its table: the partition it belongs to and its place in it.
// SK is empty where the table has no sort key.
type Key struct {
	PK string
	SK string
}

// SingletonPK is the reserved partition key of a model that has one row and no key fields.
const SingletonPK = "\x00"

// Sizes that a key may have at most, in bytes; they are DynamoDB's, held to by every driver so that all answer alike.
const (
	MaxPK = 2048
	MaxSK = 1024
)
