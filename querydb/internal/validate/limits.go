// Package validate refuses what no store can hold or answer: keys that are empty or too long, rows that are too large,
// queries without a partition.
package validate

import (
	"fmt"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// Limits that hold for every driver.
const (
	MaxPageRows = 1000
	MaxRowSize  = 400 * 1024
)

// Key refuses a key that no row can have. The rows of a sorted table have sort keys.
func Key(k keys.Key, sorted bool) error {
	if k.PK == "" {
		return fmt.Errorf("%w: the partition key is empty", driver.ErrInvalid)
	}
	if sorted && k.SK == "" {
		return fmt.Errorf("%w: the sort key is empty", driver.ErrInvalid)
	}
	if !sorted && k.SK != "" {
		return fmt.Errorf("%w: the key has a sort half, and the table has none", driver.ErrInvalid)
	}
	return KeySize(k.PK, k.SK)
}

// KeySize refuses a key with a half that is too long.
func KeySize(pk, sk string) error {
	if len(pk) > keys.MaxPK {
		return fmt.Errorf("%w: the partition key has %d bytes, and may have %d", driver.ErrInvalid, len(pk), keys.MaxPK)
	}
	if len(sk) > keys.MaxSK {
		return fmt.Errorf("%w: the sort key has %d bytes, and may have %d", driver.ErrInvalid, len(sk), keys.MaxSK)
	}
	return nil
}
