package write

import (
	"testing"
	"time"

	"github.com/foldql/foldql/internal/tests/dynamotest"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
	"github.com/foldql/foldql/querydb/dynamostore/internal/layout"
)

// TestADeletedRowIsRememberedThirtyDays, so that a partial batch can be completed after days in which nobody did.
func TestADeletedRowIsRememberedThirtyDays(t *testing.T) {
	now := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	c, err := changeOf(codecOf(t, dynamotest.Small), &driver.Write{Table: dynamotest.Small, Kind: driver.Delete,
		Row: driver.Row{Key: keys.Key{PK: "a"}, Position: dynamotest.Position(1)}}, "", now)
	if err != nil {
		t.Fatal(err)
	}
	for name, attr := range c.names {
		if attr != layout.AttrTTL {
			continue
		}
		if v, _ := item.NumberOf(c.values[":"+name[1:]]); v != item.InstantText(now.AddDate(0, 0, 30)) {
			t.Errorf("it may go at %s", v)
		}
		return
	}
	t.Error("it says nothing of when it may go")
}
