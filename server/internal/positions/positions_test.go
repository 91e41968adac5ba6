package positions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/server/internal/projections"
)

// renewed is a source whose partitions are of some incarnation.
type renewed struct {
	eventlog.Source
	incarnation string
}

func (s renewed) Incarnation(_ context.Context, partition string) (string, error) {
	if partition == "gone" || partition == "silent" {
		return "", errors.New("it does not answer")
	}
	return s.incarnation, nil
}

func (renewed) Head(_ context.Context, partition string) (uint64, error) {
	if partition == "silent" {
		return 0, errors.New("it does not answer")
	}
	return 7, nil
}

func (renewed) Partitions(context.Context) ([]string, error) {
	return []string{"0", "1", "silent"}, nil
}

func anEpoch() uint64 { return 1 }

func sourceOf(src eventlog.Source) *source {
	return newSource(src, anEpoch, slog.New(slog.DiscardHandler))
}

// TestAPositionIsOfTheLogOfTheRowsThatServe: others may have accepted another log meanwhile, and folded it.
func TestAPositionIsOfTheLogOfTheRowsThatServe(t *testing.T) {
	is := newSource(nil, nil, slog.New(slog.DiscardHandler))
	for _, c := range []struct {
		epoch     uint64
		log, want string
	}{{1, "one", "one"}, {1, "two", "one"}, {2, "two", "two"}} {
		is.Source, is.epoch = renewed{incarnation: c.log}, func() uint64 { return c.epoch }
		if got, err := is.incarnation(t.Context(), "0"); err != nil || got != c.want {
			t.Errorf("in epoch %d, of log %s: %q, %v; want %q", c.epoch, c.log, got, err, c.want)
		}
	}
}

// TestARememberedPositionIsOfTheLogOfTheRowsThatServe: the same offsets are of another log once others serve its rows.
func TestARememberedPositionIsOfTheLogOfTheRowsThatServe(t *testing.T) {
	p := New(Config{Folds: &projections.Set{}, Source: renewed{}, Logger: slog.New(slog.DiscardHandler)})
	read, at := &dependencies{}, eventlog.Offsets{"0": 5}
	for _, c := range []struct {
		epoch     uint64
		log, want string
	}{{1, "one", "one"}, {1, "two", "one"}, {2, "two", "two"}} {
		p.source.Source, p.source.epoch = renewed{incarnation: c.log}, func() uint64 { return c.epoch }
		header := p.position(t.Context(), read, at)
		if len(header) != 1 {
			t.Fatalf("in epoch %d: %q", c.epoch, header)
		}
		places, err := p.sealer.open(header[0])
		if diff := cmp.Diff([]Place{{"0", c.want, 5}}, places); err != nil || diff != "" {
			t.Errorf("in epoch %d, of log %s: %v (-want +got):\n%s", c.epoch, c.log, err, diff)
		}
	}
}

func sealerOf(key byte) *sealer { return &sealer{key: (&keys.TokenKey{key}).Sealer()} }

func TestAPositionIsOfOneIncarnationOfTheLog(t *testing.T) {
	is := sourceOf(renewed{incarnation: "one"})
	places, err := is.places(t.Context(), eventlog.Offsets{"0": 7, "1": 9, "none": 0})
	if err != nil {
		t.Fatal(err)
	}
	s := sealerOf(1)
	opened, err := s.open(s.seal(places))
	if err != nil {
		t.Fatal(err)
	}
	want := []Place{{"0", "one", 7}, {"1", "one", 9}}
	if diff := cmp.Diff(want, opened); diff != "" {
		t.Error(diff)
	}
	if err := is.check(t.Context(), opened); err != nil {
		t.Errorf("the same log: %v", err)
	}
	anew := sourceOf(renewed{incarnation: "two"})
	if err := anew.check(t.Context(), opened); !errors.Is(err, ErrInvalid) {
		t.Errorf("a log that was made anew: %v, want it refused", err)
	}
	if err := is.check(t.Context(), []Place{{"gone", "one", 1}}); !errors.Is(err, ErrInvalid) {
		t.Errorf("a partition that is gone: %v, want it refused", err)
	}
	err = is.check(t.Context(), []Place{{"silent", "one", 1}})
	if err == nil || errors.Is(err, ErrInvalid) {
		t.Errorf("a partition that does not answer: %v, want that to be told, since it may be the one of the position", err)
	}
}

// TestOfSeveralPositionsTheHighestCounts, of each partition.
func TestOfSeveralPositionsTheHighestCounts(t *testing.T) {
	p := New(Config{Folds: &projections.Set{}, Source: renewed{incarnation: "one"}, Logger: slog.New(slog.DiscardHandler)})
	p.source.epoch = anEpoch
	first := p.sealer.seal([]Place{{"0", "one", 7}, {"1", "one", 2}})
	second := p.sealer.seal([]Place{{"0", "one", 5}, {"1", "one", 9}})
	for _, lines := range [][]string{{first + ", " + second}, {second, first}, {",, " + first + " ,", second}} {
		all, err := p.open(t.Context(), listed(lines))
		if diff := cmp.Diff(eventlog.Offsets{"0": 7, "1": 9}, offsets(all)); err != nil || diff != "" {
			t.Errorf("%q: %v\n%s", lines, err, diff)
		}
	}
	for code, tokens := range map[graphqlerr.Code][]string{
		graphqlerr.InvalidToken:  {first, "AAAA"},
		graphqlerr.LimitExceeded: slices.Repeat([]string{first}, mostAsked+1),
		graphqlerr.Unavailable:   {first, p.sealer.seal([]Place{{"silent", "one", 1}})},
	} {
		if _, err := p.open(t.Context(), tokens); graphqlerr.CodeOf(err) != code {
			t.Errorf("%d positions: %v, want %s", len(tokens), err, code)
		}
	}
	var told *gqlerror.Error
	_, err := p.open(t.Context(), []string{"AAAA", first, "BBBB"})
	if !errors.As(err, &told) || !slices.Equal(told.Extensions["positions"].([]string), []string{"AAAA", "BBBB"}) {
		t.Errorf("%v tells of %v, want those that are refused", err, told.Extensions)
	}
	if none := listed([]string{"", " , ,"}); len(none) > 0 {
		t.Errorf("an empty header has the positions %q", none)
	}
}

// TestWhatTheLogDoesNotHaveIsBeyondIt: nobody needs to wait for that. Of a log that does not answer nobody knows.
func TestWhatTheLogDoesNotHaveIsBeyondIt(t *testing.T) {
	is := sourceOf(renewed{incarnation: "one"})
	got := is.beyond(t.Context(), []asked{{"there", []Place{{"0", "one", 7}, {"silent", "one", 8}}},
		{"beyond", []Place{{"0", "one", 1}, {"1", "one", 8}}}, {"far", []Place{{"0", "one", math.MaxUint64}}}})
	if !slices.Equal(got, []string{"beyond", "far"}) {
		t.Errorf("%q are beyond the log", got)
	}
}

func TestOnlyTheServersOwnPositionsOpen(t *testing.T) {
	token := sealerOf(1).seal([]Place{{"0", "", 7}})
	for name, text := range map[string]string{
		"of another key": sealerOf(2).seal([]Place{{"0", "", 7}}), "": "", "cut short": token[:len(token)-1],
		"too long": strings.Repeat("A", maxToken+1), "a page token": (&keys.TokenKey{1}).Seal([]byte("page"), []byte("[]")),
	} {
		if _, err := sealerOf(1).open(text); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v, want it refused", name, err)
		}
	}
}

// TestAPositionThatFitsNoHeaderIsLeftOut: a header of any size would be refused by what stands between.
func TestAPositionThatFitsNoHeaderIsLeftOut(t *testing.T) {
	var places []Place
	for i := range 500 {
		places = append(places, Place{fmt.Sprint("partition-", i), "one", 1})
	}
	if token := sealerOf(1).seal(places); token != "" {
		t.Errorf("it has %d bytes", len(token))
	}
}

func TestTextsOfPositionsAreRememberedUpToABound(t *testing.T) {
	s := sealerOf(1)
	for i := range 3 * mostRemembered {
		s.seal([]Place{{"0", "", uint64(i)}})
	}
	if len(s.sealed) > mostRemembered {
		t.Errorf("%d texts are remembered", len(s.sealed))
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(sealerOf(1).seal([]Place{{"0", "one", 7}}))
	f.Add("AAAA")
	f.Fuzz(func(t *testing.T, text string) {
		if places, err := sealerOf(1).open(text); (err == nil) != (sealerOf(1).seal(places) == text && text != "") {
			t.Errorf("%q opens to %v, %v", text, places, err)
		}
	})
}
