package projectiontest

import (
	"context"
	"fmt"
	"testing"
)

// TestDepositsAddUpByOwner is a test of a projector: events, and the rows that they leave. Everything else, from
// commits that are interrupted to a process that stops between them, Run tries by itself.
func TestDepositsAddUpByOwner(t *testing.T) {
	Run(t, Spec[Account]{
		Projection: ProjectAccount(deposits),
		Codec:      AccountCodec,
		Given: []Event{
			{Type: "Deposited", Subject: "ada", Data: Deposited{Owner: "ada", Amount: 5}},
			{Type: "Deposited", Subject: "bob", Data: `{"owner": "bob", "amount": 1}`},
			{Type: "Deposited", Subject: "ada", Data: `{"owner": "ada", "amount": 7}`},
			{Type: "Deposited", Subject: "eve", Data: `{"owner": ""}`},
			{Type: "Deposited", Subject: "eve", Data: `{"owner": "eve", "amount": 100}`},
		},
		Want: []Account{{Owner: "ada", Balance: 12}, {Owner: "bob", Balance: 1}},
		WantDeadLetters: []DeadLetter{
			{ID: "4", Reason: "owner"},
			{ID: "5", Reason: "an earlier event of the same subject"},
		},
	})
}

// printing is a test that prints what would fail it; an example has no *testing.T.
type printing struct{ testing.TB }

func (printing) Helper()                  {}
func (printing) Context() context.Context { return context.Background() }
func (printing) Fatal(args ...any)        { fmt.Println(args...) }

// A spec that holds in every way says nothing.
func Example() {
	var t printing // in a test it is the *testing.T
	Run(t, Spec[Account]{
		Projection: ProjectAccount(deposits),
		Codec:      AccountCodec,
		Given: []Event{
			{Type: "Deposited", Subject: "ada", Data: `{"owner": "ada", "amount": 5}`},
			{Type: "Deposited", Subject: "ada", Data: `{"owner": "ada", "amount": 7}`},
		},
		Want: []Account{{Owner: "ada", Balance: 12}},
	})
	// Output:
}
