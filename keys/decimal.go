package keys

import (
	"fmt"
	"math/big"

	"github.com/foldql/foldql/keys/internal/encoding"
)

// Decimal is an exact decimal number in canonical text: plain notation, no exponent, no leading or trailing zeros
// beyond the one that a number needs, no negative zero. The empty Decimal is zero.
type Decimal string

// ParseDecimal reads decimal text ("12.50", "-3e2") into canonical form; it fails where s is not a number or has more
// than 999 integer or 999 fraction digits.
func ParseDecimal(s string) (Decimal, error) {
	canonical, err := encoding.CanonicalDecimal(s)
	if err != nil {
		return "", fmt.Errorf("keys: %w", err)
	}
	return Decimal(canonical), nil
}

// Rat returns the number for arithmetic. Text that is no number, which only a conversion can make a Decimal, is zero.
func (d Decimal) Rat() *big.Rat {
	r := new(big.Rat)
	if canonical, err := ParseDecimal(d.String()); err == nil {
		r.SetString(string(canonical))
	}
	return r
}

// String returns the canonical text, "0" for the empty Decimal.
func (d Decimal) String() string {
	if d == "" {
		return "0"
	}
	return string(d)
}
