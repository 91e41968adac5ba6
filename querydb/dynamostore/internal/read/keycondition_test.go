package read

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/internal/tests/dynamotest"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
)

func TestAQueryAsksForItsRangeAndNothingElse(t *testing.T) {
	byStatus := 1
	start := func(sk string) *keys.Cursor { return &keys.Cursor{Key: keys.Key{PK: "o1", SK: sk}} }
	inIndex := func(sk string) *keys.Cursor {
		return &keys.Cursor{Key: keys.Key{PK: "o1", SK: "2024"}, Index: keys.Key{PK: "placed", SK: sk}}
	}
	between := keys.Range{Op: keys.RangeBetween, Lo: "b", Hi: "d"}
	tests := map[string]struct {
		q     driver.Query
		want  string // "" where nothing is to be asked
		after map[string]string
	}{
		"all": {driver.Query{Index: driver.Primary}, `id = "o1"`, nil},
		"equal": {driver.Query{Index: driver.Primary, Range: keys.Range{Op: keys.RangeEqual, Lo: "b"}},
			`id = "o1" AND changedAt = "b"`, nil},
		"prefix": {driver.Query{Index: driver.Primary, Range: keys.Range{Op: keys.RangePrefix, Lo: "b"}},
			`id = "o1" AND begins_with(changedAt, "b")`, nil},
		"at least": {driver.Query{Index: driver.Primary, Range: keys.Range{Op: keys.RangeAtLeast, Lo: "b"}},
			`id = "o1" AND changedAt >= "b"`, nil},
		"at most": {driver.Query{Index: driver.Primary, Range: keys.Range{Op: keys.RangeAtMost, Lo: "b"}},
			`id = "o1" AND changedAt <= "b"`, nil},
		"between": {driver.Query{Index: driver.Primary, Range: between},
			`id = "o1" AND changedAt BETWEEN "b" AND "d"`, nil},
		"an index": {driver.Query{Index: byStatus, Range: between},
			`status = "o1" AND _byStatus_sk BETWEEN "b" AND "d"`, nil},
		"prefix of all": {driver.Query{Index: driver.Primary, Range: keys.Range{Op: keys.RangePrefix}}, `id = "o1"`, nil},
		"from nothing":  {driver.Query{Index: driver.Primary, Range: keys.Range{Op: keys.RangeAtLeast}}, `id = "o1"`, nil},
		"from nothing to something": {
			driver.Query{Index: driver.Primary, Range: keys.Range{Op: keys.RangeBetween, Hi: "d"}},
			`id = "o1" AND changedAt <= "d"`, nil},
		"equal to nothing": {driver.Query{Index: driver.Primary, Range: keys.Range{Op: keys.RangeEqual}}, ``, nil},
		"at most nothing":  {driver.Query{Index: driver.Primary, Range: keys.Range{Op: keys.RangeAtMost}}, ``, nil},
		"between nothing":  {driver.Query{Index: driver.Primary, Range: keys.Range{Op: keys.RangeBetween}}, ``, nil},
		"the wrong way round": {driver.Query{Index: driver.Primary, Range: keys.Range{Op: keys.RangeBetween,
			Lo: "d", Hi: "b"}},
			``, nil},
		"after a row": {driver.Query{Index: driver.Primary, Start: start("c"), Range: between},
			`id = "o1" AND changedAt BETWEEN "b" AND "d"`, map[string]string{"id": `"o1"`, "changedAt": `"c"`}},
		"after the first": {driver.Query{Index: driver.Primary, Start: start("b"), Range: between},
			`id = "o1" AND changedAt BETWEEN "b" AND "d"`, map[string]string{"id": `"o1"`, "changedAt": `"b"`}},
		"after one before all": {driver.Query{Index: driver.Primary, Start: start("a"), Range: between},
			`id = "o1" AND changedAt BETWEEN "b" AND "d"`, nil},
		"after one behind all": {driver.Query{Index: driver.Primary, Start: start("d\x00"), Range: between}, ``, nil},
		"backwards from one behind all": {
			driver.Query{Index: driver.Primary, Start: start("e"), Range: between, Reverse: true},
			`id = "o1" AND changedAt BETWEEN "b" AND "d"`, nil},
		"backwards from one before all": {driver.Query{Index: driver.Primary, Start: start("a"), Range: between,
			Reverse: true}, ``, nil},
		"backwards from the last": {driver.Query{Index: driver.Primary, Start: start("d"), Range: between, Reverse: true},
			`id = "o1" AND changedAt BETWEEN "b" AND "d"`,
			map[string]string{"id": `"o1"`, "changedAt": `"d"`}},
		"after the last": {driver.Query{Index: driver.Primary, Start: start("d"), Range: between}, ``, nil},
		"backwards from the first": {driver.Query{Index: driver.Primary, Start: start("b"), Range: between,
			Reverse: true}, ``, nil},
		"after the only one": {driver.Query{Index: driver.Primary, Start: start("b"),
			Range: keys.Range{Op: keys.RangeEqual, Lo: "b"}}, ``, nil},
		"after the last that can be": {driver.Query{Index: driver.Primary, Start: start("b"),
			Range: keys.Range{Op: keys.RangeAtMost, Lo: "b"}}, ``, nil},
		"after a tie of the last": {driver.Query{Index: byStatus, Start: inIndex("d"), Range: between},
			`status = "o1" AND _byStatus_sk BETWEEN "b" AND "d"`,
			map[string]string{"id": `"o1"`, "changedAt": `"2024"`, "status": `"o1"`, "_byStatus_sk": `"d"`}},
		"after a row of an index": {driver.Query{Index: byStatus, Start: inIndex("c"), Range: between},
			`status = "o1" AND _byStatus_sk BETWEEN "b" AND "d"`,
			map[string]string{"id": `"o1"`, "changedAt": `"2024"`, "status": `"o1"`, "_byStatus_sk": `"c"`}},
		"after a row of an index without sort half": {driver.Query{Index: 0, Start: inIndex("")}, `customerId = "o1"`,
			map[string]string{"id": `"o1"`, "changedAt": `"2024"`, "customerId": `"o1"`}},
	}
	s := codecOf(t, dynamotest.Tracking())
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.q.Table, test.q.PK, test.q.Limit = s.Table, "o1", 10
			in, err := queryInput(s, &test.q)
			if err != nil {
				t.Fatal(err)
			}
			if in == nil || test.want == "" {
				if in != nil || test.want != "" {
					t.Fatalf("asks %v, want %q", in, test.want)
				}
				return
			}
			if diff := cmp.Diff(test.want, dynamotest.Spell(*in.KeyConditionExpression, in.ExpressionAttributeNames,
				in.ExpressionAttributeValues)); diff != "" {
				t.Error(diff)
			}
			got := dynamotest.ShowItem(in.ExclusiveStartKey)
			if test.after == nil {
				test.after = map[string]string{}
			}
			if diff := cmp.Diff(test.after, got); diff != "" {
				t.Error(diff)
			}
			if *in.ScanIndexForward == test.q.Reverse {
				t.Error("the wrong direction")
			}
		})
	}
}

func TestAQueryIsConsistentWhereDynamoDBCanBe(t *testing.T) {
	s := codecOf(t, dynamotest.Tracking())
	for index := driver.Primary; index < len(s.Table.Indexes); index++ {
		in, err := queryInput(s, &driver.Query{Table: s.Table, Index: index, PK: "a", Consistent: true})
		if err != nil {
			t.Fatal(err)
		}
		if consistent := in.ConsistentRead != nil && *in.ConsistentRead; consistent != (index == driver.Primary) {
			t.Errorf("index %d is read consistently: %t", index, consistent)
		}
	}
}

func TestAQueryOfTextThatIsNoUTF8IsInvalid(t *testing.T) {
	s := codecOf(t, dynamotest.Tracking())
	for _, q := range []driver.Query{
		{PK: "\xff"}, {PK: "a", Range: keys.Range{Op: keys.RangeEqual, Lo: "\xff"}}, {PK: "a",
			Range: keys.Range{Op: keys.RangeBetween, Lo: "a", Hi: "\xff"}},
		{PK: "a", Start: &keys.Cursor{Key: keys.Key{PK: "a", SK: "\xff"}}},
	} {
		q.Index, q.Table = driver.Primary, s.Table
		if _, err := queryInput(s, &q); !errors.Is(err, driver.ErrInvalid) {
			t.Errorf("%v: %v, want ErrInvalid", q, err)
		}
	}
}

func codecOf(t testing.TB, table *driver.Table) *item.Codec {
	t.Helper()
	c, err := item.NewCodec("", table)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
