package projectiontest

import "testing"

// TestAccount is a test of a projector: events, and the rows that they leave. Everything else, from events delivered
// twice to a process that stops between them, Run tries by itself.
func TestAccount(t *testing.T) {
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
		WantAside: []Aside{
			{ID: "4", Reason: "owner"},
			{ID: "5", Reason: "an earlier event of the same subject"},
		},
	})
}

// The same test from the outside, as an example of the package.
func Example() {
	test := func(t *testing.T) {
		Run(t, Spec[Account]{
			Projection: ProjectAccount(deposits),
			Codec:      AccountCodec,
			Given: []Event{
				{Type: "Deposited", Data: `{"owner": "ada", "amount": 5}`},
				{Type: "Deposited", Data: `{"owner": "ada", "amount": 7}`},
			},
			Want: []Account{{Owner: "ada", Balance: 12}},
		})
	}
	testing.RunTests(func(_, _ string) (bool, error) { return true, nil },
		[]testing.InternalTest{{Name: "TestDeposits", F: test}})
	// Output:
}
