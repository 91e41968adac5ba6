package write

import (
	"strings"
	"testing"
	"time"

	"github.com/foldql/foldql/internal/tests/dynamotest"
	"github.com/google/go-cmp/cmp"
)

func TestRequestOfAPart(t *testing.T) {
	const slot = "_pos.telemetry/events"
	first := `(attribute_not_exists(` + slot + `) OR ` + slot + ` < 7)`
	tests := map[string]struct {
		text, digits string
		state        state
		update, when string
	}{
		"of a row that may be": {"on", "1", state{},
			`SET status="on",deviceId="d",load=1,` + slot + `=7,_by="telemetry/events" ADD _writers {telemetry},_rev 1`,
			`(` + first + ` AND (attribute_not_exists(_deleted))) AND (attribute_not_exists(_own))`},
		"of a row that others have parts of": {"on", "1", state{others: true},
			`SET status="on",deviceId="d",load=1,` + slot + `=7,_by="telemetry/events" ADD _writers {telemetry},_rev 1`,
			`(` + first + ` AND (attribute_not_exists(_deleted))) AND (attribute_not_exists(_own))`},
		"of a row that was deleted": {"on", "1", state{deleted: true},
			`SET status="on",deviceId="d",load=1,` + slot + `=7,_by="telemetry/events" REMOVE _ttl,_deleted ADD _writers ` +
				`{telemetry},_rev 1`,
			`(` + first + ` AND (attribute_exists(_deleted))) AND (attribute_not_exists(_own))`},
		"of a row with values apart": {"on", "1", state{own: true},
			`SET status="on",deviceId="d",load=1,` + slot + `=7,_by="telemetry/events" REMOVE _own.status,_own.load ADD ` +
				`_writers {telemetry},_rev 1`,
			`(` + first + ` AND (attribute_not_exists(_deleted))) AND (attribute_exists(_own))`},
		"the last, that goes": {"", "", state{},
			`SET _ttl=2593000,_deleted=true,` + slot + `=7,_by="telemetry/events" REMOVE ` +
				`owner,status,deviceId,load,price,_own,_expires,_writers ADD _rev 1`,
			first + ` AND (attribute_not_exists(_writers) OR _writers = {telemetry})`},
		"one of several, that goes": {"", "", state{others: true},
			`SET ` + slot + `=7,_by="telemetry/events" REMOVE status,load DELETE _writers {telemetry} ADD _rev 1`,
			`((` + first + ` AND (attribute_exists(_writers))) AND (_writers <> {telemetry})) AND (attribute_not_exists(_own))`},
	}
	s := codecOf(t, dynamotest.Device)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := dynamotest.DeviceBatch(t, "telemetry", test.text, test.digits, 7)
			c, err := changeOf(s, &b.Writes[0], b.Writer, time.Unix(1000, 0))
			if err == nil {
				c, err = c.inState(test.state)
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.update, dynamotest.Spell(c.update, c.names, c.values)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.when, dynamotest.Spell(c.condition, c.names, c.values)); diff != "" {
				t.Error(diff)
			}
			everyPlaceholderIsUsed(t, c)
		})
	}
}

// TestDynamoDBRemovesNoRowOfSeveralWriters: the end is one writer's, and the parts of the others do not end with it. It
// does remove a row that has one writer, as those of the history of a time series do.
func TestDynamoDBRemovesNoRowOfSeveralWriters(t *testing.T) {
	for name, writers := range map[string][]string{"of two writers": {"enrichment", "telemetry"}, "of none": nil} {
		b := dynamotest.DeviceBatch(t, "ownership", "on", "1", 7)
		b.Writes[0].Part, b.Writes[0].Row.Expires, b.Writes[0].Row.Writers = nil, time.Unix(5000, 0), writers
		c, err := changeOf(codecOf(t, dynamotest.Device), &b.Writes[0], "", time.Unix(1000, 0))
		if err != nil {
			t.Fatal(err)
		}
		got := dynamotest.Spell(c.update, c.names, c.values)
		if !strings.Contains(got, "_expires=5000") || strings.Contains(got, "_ttl=177800,") == (writers != nil) {
			t.Errorf("the request of a whole row %s is %s", name, got)
		}
	}
	for writers, removes := range map[int]bool{1: true, 2: false} {
		b := dynamotest.DeviceBatch(t, "ownership", "on", "1", 7)
		part := *b.Writes[0].Part
		part.WriterCount = writers
		b.Writes[0].Part, b.Writes[0].Row.Expires = &part, time.Unix(5000, 0)
		c, err := changeOf(codecOf(t, dynamotest.Device), &b.Writes[0], b.Writer, time.Unix(1000, 0))
		if err != nil {
			t.Fatal(err)
		}
		got := dynamotest.Spell(c.update, c.names, c.values)
		if !strings.Contains(got, "_expires=5000") || strings.Contains(got, "_ttl=177800,") != removes {
			t.Errorf("the request of one of %d writers is %s", writers, got)
		}
	}
}
