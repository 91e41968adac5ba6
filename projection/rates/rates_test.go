package rates_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/projection/rates"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

var day = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

func rate(count uint64, took time.Duration) *rates.Rate {
	return rates.Since(day.Add(-took), day, count)
}

// TestTheLastMeasurementOfEachKindIsKept that says anything, in place of what is damaged too.
func TestTheLastMeasurementOfEachKindIsKept(t *testing.T) {
	ctx := t.Context()
	db, err := querydb.Open(ctx, memstore.New(), nil, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var want rates.Rates
	for _, step := range []struct {
		measured rates.Rates
		fold     *rates.Rate
		copied   *rates.Rate
	}{
		{measured: rates.Rates{Fold: rate(999, time.Second)}},
		{measured: rates.Rates{Fold: rate(5000, time.Second)}, fold: rate(5000, time.Second)},
		{measured: rates.Rates{Copy: rate(2000, time.Minute)}, copied: rate(2000, time.Minute)},
		{measured: rates.Rates{Fold: rate(5000, 0), Copy: rate(10, time.Hour)}},
		{measured: rates.Rates{Fold: rate(1000, time.Hour)}, fold: rate(1000, time.Hour)},
	} {
		if err := rates.Save(ctx, db, "P", step.measured); err != nil {
			t.Fatal(err)
		}
		if step.fold != nil {
			want.Fold = step.fold
		}
		if step.copied != nil {
			want.Copy = step.copied
		}
		got, err := rates.Read(ctx, db, "P")
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("after %+v: %v (-want +got):\n%s", step.measured, err, diff)
		}
	}
	if got, err := rates.Read(ctx, db, "Q"); err != nil || got != (rates.Rates{}) {
		t.Errorf("of another projection: %+v, %v, want none", got, err)
	}

	for _, damaged := range []string{`{"fold": 1}`, `{"fold": {"count": 5000}}`} {
		note := querydb.Note{Kind: "rates", ID: "P", Value: []byte(damaged)}
		if err := db.Apply(ctx, querydb.Batch{Notes: []querydb.Note{note}}); err != nil {
			t.Fatal(err)
		}
		if got, err := rates.Read(ctx, db, "P"); err == nil && got.Fold != nil {
			t.Errorf("of %s: %+v, want an error or none", damaged, got)
		}
		if err := rates.Save(ctx, db, "P", rates.Rates{Fold: rate(7000, time.Second)}); err != nil {
			t.Fatal(err)
		}
		if got, err := rates.Read(ctx, db, "P"); err != nil || got.Fold == nil || got.Fold.Count != 7000 {
			t.Errorf("after a damaged record: %+v, %v, want the measurement since", got, err)
		}
	}
}

func TestAForecastFollowsFromTheMeasurements(t *testing.T) {
	for _, test := range []struct {
		of             rates.Forecast
		rebuild, index string
	}{
		{rates.Forecast{Events: 7}, "not known", "not known"},
		{rates.Forecast{Events: 500_000, Rates: rates.Rates{Fold: rate(100_000, 8*time.Second)}},
			"about 40s for up to 500000 events, at the 12500 events a second of 2026-11-25", "not known"},
		{rates.Forecast{Events: 2, Rates: rates.Rates{
			Fold: rate(100_000, 8*time.Second), Copy: rate(1_000_000, 90*time.Second),
		}},
			"about a second for up to 2 events", "about 1m30s, as the last one did for 1000000 rows on 2026-11-25"},
		{rates.Forecast{Events: 1 << 63, Rates: rates.Rates{Fold: rate(1000, 1000*time.Hour)}}, "about 876000h0m0s",
			"not known"},
	} {
		if got := test.of.Rebuild(); !strings.Contains(got, test.rebuild) {
			t.Errorf("%+v: %q, want %q", test.of, got, test.rebuild)
		}
		if got := test.of.IndexBuild(); !strings.Contains(got, test.index) {
			t.Errorf("%+v: %q, want %q", test.of, got, test.index)
		}
	}
}

func TestAFileOfForecastsIsReadAsItWasWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rates.json")
	all := map[string]rates.Forecast{
		"P": {Events: 12, Rates: rates.Rates{Fold: rate(5000, time.Second)}}, "Q": {},
	}
	if err := rates.WriteFile(path, all); err != nil {
		t.Fatal(err)
	}
	got, err := rates.ReadFile(path)
	if diff := cmp.Diff(all, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, wrong := range []string{``, `[]`, `{"P": {"events": -1}}`, `{"P": {"fold": {"count": 5000, "seconds": 0}}}`} {
		if err := os.WriteFile(path, []byte(wrong), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := rates.ReadFile(path); err == nil {
			t.Errorf("%q is read without an error", wrong)
		}
	}
}

func ExampleForecast_Rebuild() {
	last := rates.Since(day.Add(-time.Minute), day, 600_000)
	f := rates.Forecast{Events: 1_500_000, Rates: rates.Rates{Fold: last}}
	fmt.Println(f.Rebuild())
	// Output: about 2m30s for up to 1500000 events, at the 10000 events a second of 2026-11-25
}
