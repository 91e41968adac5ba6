// Package plural says how many there are of something.
package plural

import "fmt"

// Count is a number of things in words: "1 row", "2 rows".
func Count[N int | uint64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
