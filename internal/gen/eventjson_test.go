package gen

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	enums "github.com/foldql/foldql/internal/gen/testdata/cases/enums/want/event"
	objects "github.com/foldql/foldql/internal/gen/testdata/cases/events/want/event"
	scalars "github.com/foldql/foldql/internal/gen/testdata/cases/every-scalar/want/event"
	"github.com/foldql/foldql/keys"
)

// TestTheJSONOfAnEventIsReadAsThatEvent, so that tests give events as Go values: with a value in every field, and with
// none where the schema needs none.
func TestTheJSONOfAnEventIsReadAsThatEvent(t *testing.T) {
	at := time.Date(2024, 1, 15, 12, 30, 0, 123456789, time.FixedZone("", 7200))
	day := keys.Date("2024-02-29")
	readsBack(t, scalars.DecodeSampleTaken, scalars.SampleTaken{
		ID: "a", Text: "\"é\u2028<&\x00", Flag: true, Small: math.MinInt32, Large: math.MinInt64, Ratio: 1e-300,
		Price: "12.5", Day: day, At: at, MaybeID: new("7"), MaybeText: new(""), MaybeFlag: new(false),
		MaybeSmall: new(0), MaybeLarge: new(int64(math.MaxInt64)), MaybeRatio: new(math.MaxFloat64),
		MaybePrice: new(keys.Decimal("-0.07")), MaybeDay: &day, MaybeAt: &at, Texts: []string{"", "x"},
		Prices: []keys.Decimal{"1"}, Moments: []time.Time{at, at.UTC()}, Days: []*keys.Date{&day, nil},
	})
	readsBack(t, scalars.DecodeSampleTaken, scalars.SampleTaken{
		Day: day, Price: "0", Texts: []string{}, Prices: []keys.Decimal{}, Moments: []time.Time{}, Days: []*keys.Date{},
	})
	readsBack(t, enums.DecodePaperMoved, enums.PaperMoved{
		PaperID: "p", Stage: enums.StageInReview, Channel: new(enums.ChannelWeb),
		Past: []enums.Stage{enums.StageDraft}, Maybe: []*enums.Channel{nil, new(enums.ChannelShop)},
	})
	line := objects.BasketLine{Product: "p", Quantity: 2, Parts: []objects.BasketLine{{Product: "q"}}}
	readsBack(t, objects.DecodeBasketFilled, objects.BasketFilled{
		BasketID: "b", Lines: []objects.BasketLine{line}, Gift: &line, Extras: []*objects.BasketLine{&line, nil},
		Origin: objects.BasketOrigin{Shop: "s", Till: new(1)},
	})
}

func readsBack[E any](t *testing.T, decode func([]byte) (E, error), event E) {
	t.Helper()
	text, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decode(text)
	sameInstant := cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })
	if diff := cmp.Diff(event, got, sameInstant); diff != "" || err != nil {
		t.Errorf("%s is read as another event (-want +got), %v:\n%s", text, err, diff)
	}
}

// TestAnUnsetDecimalOfAnEventIsZero, as it is everywhere else.
func TestAnUnsetDecimalOfAnEventIsZero(t *testing.T) {
	text, err := json.Marshal(struct{ Price keys.Decimal }{})
	if want := `{"Price":"0"}`; err != nil || string(text) != want {
		t.Errorf("it is %s, %v, want %s", text, err, want)
	}
}
