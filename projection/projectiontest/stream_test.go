package projectiontest

import (
	"testing"

	"github.com/foldql/foldql/projection"
)

// TestEventsAreOfTheStreamOfTheModelThatTakesThem unless they say otherwise: others are none of the projection's.
func TestEventsAreOfTheStreamOfTheModelThatTakesThem(t *testing.T) {
	p := ProjectAccount(deposits)
	p.EventSource = "/bank"
	Run(t, Spec[Account]{
		Projection: p, Codec: AccountCodec,
		Given: []Event{
			{Type: "Deposited", Data: `{"owner": "a", "amount": 1}`},
			{Type: "Deposited", Source: "/bank", Data: `{"owner": "a", "amount": 2}`},
			{Type: "Deposited", Source: "/elsewhere", Data: `{"owner": "a", "amount": 4}`},
		},
		Want: []Account{{"a", 3}},
	})
}

func TestSamplesAreOfTheStreamOfTheModelThatTakesThem(t *testing.T) {
	p := upcasting(right)
	p.EventSource = "/bank"
	RunEvolution(t, Evolution{
		Projections: []projection.Projection{p}, Types: versionedTypes, Samples: folder(threeVersions()),
	})
}
