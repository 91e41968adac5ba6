//go:build race

package projection_test

import "flag"

// With the race detector each game of a random test takes ten times as long, so there are fewer; -rapid.checks asks for
// more. The next run draws others.
func init() {
	if err := flag.Set("rapid.checks", "20"); err != nil {
		panic(err)
	}
}
