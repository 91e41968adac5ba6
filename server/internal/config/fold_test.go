package config

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/foldql/foldql/projection"
)

// TestMaxAggregateIsBounded by what one range of items is read with. Without the flag it is what DynamoDB has room for.
func TestMaxAggregateIsBounded(t *testing.T) {
	for _, tt := range []struct {
		args  []string
		items int // 0 where it is refused
	}{
		{nil, 95}, {[]string{"--max-aggregate=1"}, 1}, {[]string{"--max-aggregate=1000"}, projection.MaxAggregateItems},
		{[]string{"--max-aggregate=0"}, 0}, {[]string{"--max-aggregate=-1"}, 0}, {[]string{"--max-aggregate=1001"}, 0},
	} {
		var fold Fold
		parser, err := kong.New(&fold)
		if err == nil {
			_, err = parser.Parse(tt.args)
		}
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := fold.Runner(slog.Default())
		if tt.items == 0 {
			if !errors.As(err, new(Error)) || !strings.Contains(err.Error(), "max-aggregate: ") ||
				!strings.Contains(err.Error(), "give 1 to 1000") {
				t.Errorf("%v: error %v, want one that says the bounds", tt.args, err)
			}
			continue
		}
		if err != nil || cfg.MaxAggregateItems != tt.items {
			t.Errorf("%v: %d items, %v; want %d", tt.args, cfg.MaxAggregateItems, err, tt.items)
		}
	}
}
