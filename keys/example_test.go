package keys_test

import (
	"fmt"
	"time"

	"github.com/foldql/foldql/keys"
)

// The status rows of an order: sorted by time under the order's id.
func Example() {
	sk := keys.Layout{Segments: []keys.Segment{{Field: "changedAt", Kind: keys.KindDateTime}}}

	row, err := sk.Compose(keys.DateTime(time.Date(2024, 6, 30, 17, 5, 0, 123e6, time.UTC)))
	if err != nil {
		fmt.Println(err)
		return
	}
	day := "2024-06-30"
	upTo, err := sk.Range(keys.Operands{To: &day})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(row)
	fmt.Println(upTo.Contains(row))
	// Output:
	// 2024-06-30T17:05:00.123Z
	// true
}

// Order lines by category and product: a half of two segments, and what all lines of one category begin with.
func ExampleLayout_Compose() {
	sk := keys.Layout{Sep: "/", Segments: []keys.Segment{
		{Field: "category", Kind: keys.KindString},
		{Field: "productId", Kind: keys.KindString},
	}}
	for _, vals := range [][]keys.Value{
		{keys.String("electronics"), keys.String("prod-456")},
		{keys.String("audio/video"), keys.String("prod-456")},
		{keys.String("electronics")},
	} {
		key, err := sk.Compose(vals...)
		fmt.Println(key, err)
	}
	// Output:
	// electronics/prod-456 <nil>
	// audio%2Fvideo/prod-456 <nil>
	// electronics/ <nil>
}
