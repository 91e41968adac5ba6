package keys

import "math/big"

// Decimal is an exact decimal number in canonical text: plain notation, no exponent, no leading or trailing zeros
// beyond the one that a number needs, no negative zero. The empty Decimal is zero.
type Decimal string

// ParseDecimal reads decimal text ("12.50", "-3e2") into canonical form; it fails where s is not a number or has more
// than 999 integer or 999 fraction digits.
func ParseDecimal(s string) (Decimal, error) { panic("keys: to be written") }

// Rat returns the number for arithmetic.
func (d Decimal) Rat() *big.Rat { panic("keys: to be written") }

// String returns the canonical text, "0" for the empty Decimal.
func (d Decimal) String() string { panic("keys: to be written") }
