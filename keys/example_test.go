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
	upTo, err := sk.ParseOperands(keys.Operands{To: &day})
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

// Tasks that share a table, in a collection of one index; the row of a task that has another word for its status is
// never selected by a status that only begins like it.
func ExampleEntityKey() {
	key := keys.EntityKey{
		Schema:     keys.EntitySchema{Name: "myapp", Version: 1, Casing: keys.CasingLower},
		Type:       "Task",
		Collection: []string{"contributions", "assignments"},
		Clustered:  true,
		Casing:     keys.CasingLower,
	}
	pk := key.PK(keys.Segment{Field: "employeeId", Kind: keys.KindString})
	sk := key.SK(keys.Segment{Field: "status", Kind: keys.KindString}, keys.Segment{Field: "priority", Kind: keys.KindInt})

	fmt.Println(pk.Compose(keys.String("Emp-Alice")))
	fmt.Println(sk.Compose(keys.String("Done"), keys.Int(5)))
	fmt.Println(key.CollectionRange(0).Lo)
	fmt.Println(key.CollectionRange(1).Lo)
	// Output:
	// $myapp#v1#contributions#employeeid_emp-alice <nil>
	// $myapp#v1#contributions#assignments#task_1#status_done#priority_0000000000000005 <nil>
	// $myapp#v1#contributions#
	// $myapp#v1#contributions#assignments#
}

// The members of an organisation's teams, under a template.
func ExampleTemplate() {
	template, err := keys.ParseTemplate("team#{teamId}#member#{rank:4}")
	if err != nil {
		fmt.Println(err)
		return
	}
	sk, err := template.Layout(keys.CasingNone, func(field string) keys.Kind {
		return map[string]keys.Kind{"teamId": keys.KindString, "rank": keys.KindInt}[field]
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(sk.Compose(keys.String("t1"), keys.Int(7)))
	fmt.Println(sk.Compose(keys.String("t1")))
	// Output:
	// team#t1#member#0007 <nil>
	// team#t1#member# <nil>
}

// What a query selects under the composites that it gives: the next one is compared in its own kind.
func ExampleLayout_Select() {
	sk := keys.Layout{Head: "$myapp#v1#task", Sep: "#", Casing: keys.CasingLower, Segments: []keys.Segment{
		{Field: "status", Kind: keys.KindString, Before: "status_"},
		{Field: "priority", Kind: keys.KindInt, Before: "priority_"},
	}}
	row, err := sk.Compose(keys.String("Done"), keys.Int(7))
	if err != nil {
		fmt.Println(err)
		return
	}
	ranges, err := sk.Select([]keys.Value{keys.String("Done")}, keys.Condition{From: keys.Int(5)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range ranges {
		fmt.Println(r.Lo, r.Contains(row))
	}
	// Output:
	// $myapp#v1#task#status_done#priority_0000000000000005 true
}

// Two writers of one row: what the one does not know of, it leaves alone; what it owns and cannot compose, it removes.
func ExampleIndexHalf_UpdateForPatch() {
	device := keys.EntityKey{Schema: keys.EntitySchema{Name: "app", Version: 1}, Type: "Device"}
	byAccount := keys.IndexHalf{Layout: device.PK(keys.Segment{Field: "accountId", Kind: keys.KindString})}
	byAlert := keys.IndexHalf{Layout: device.SK(keys.Segment{Field: "alertState", Kind: keys.KindString}),
		Policy: keys.PolicySparse}

	account, _ := byAccount.UpdateForPatch([]keys.PatchedComposite{{Change: keys.FieldUntouched}})
	alert, _ := byAlert.UpdateForPatch([]keys.PatchedComposite{{Change: keys.FieldGiven, Value: keys.String("active")}})
	calm, _ := byAlert.UpdateForPatch([]keys.PatchedComposite{{Change: keys.FieldCleared}})
	fmt.Println(alert.Key)
	fmt.Println(account.Op == keys.KeepKey, calm.Op == keys.RemoveKey)
	// Output:
	// $app#v1#Device#alertState_active
	// true true
}
