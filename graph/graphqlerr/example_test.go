package graphqlerr_test

import (
	"fmt"

	"github.com/foldql/foldql/graph/graphqlerr"
)

// A resolver of your own returns an error with a code, which programs can rely on.
func ExampleNew() {
	err := graphqlerr.New(graphqlerr.BadUserInput, "limit is %d, and must be 1 to %d", 0, 1000)
	fmt.Println(graphqlerr.CodeOf(err), err)
	// Output:
	// BAD_USER_INPUT input: limit is 0, and must be 1 to 1000
}

// A message that becomes part of another stands there without the place that the text of the error begins with.
func ExampleMessageOf() {
	err := graphqlerr.New(graphqlerr.BadUserInput, "42 is no date")
	fmt.Println(err)
	fmt.Println(graphqlerr.MessageOf(err))
	// Output:
	// input: 42 is no date
	// 42 is no date
}
