package dynamostore

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/foldql/foldql/internal/tests/dynamotest"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/layout"
	"github.com/google/go-cmp/cmp"
)

// asMade is the table as DynamoDB describes it when it was made of the layout.
func asMade(l layout.Layout) *live {
	in := createInput(&l)
	d := &live{
		TableDescription: types.TableDescription{
			TableName: &l.Table, TableStatus: types.TableStatusActive, KeySchema: in.KeySchema,
			AttributeDefinitions: in.AttributeDefinitions, ItemCount: aws.Int64(1000), TableSizeBytes: aws.Int64(2 << 20),
		},
		ttl: types.TimeToLiveDescription{AttributeName: aws.String(layout.AttrTTL),
			TimeToLiveStatus: types.TimeToLiveStatusEnabled},
	}
	for _, g := range in.GlobalSecondaryIndexes {
		d.GlobalSecondaryIndexes = append(d.GlobalSecondaryIndexes, types.GlobalSecondaryIndexDescription{
			IndexName: g.IndexName, IndexStatus: types.IndexStatusActive, KeySchema: g.KeySchema, Projection: g.Projection,
		})
	}
	return d
}

func TestPlanIsWhatIsMissing(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(d *live)
		delete bool
		steps  []string // how each begins
		wrong  []string // what each says
		ready  bool
	}{
		{name: "nothing", change: func(*live) {}, ready: true},
		{name: "the table", change: nil, steps: []string{
			"create table p-Orders (id, changedAt), with its indexes byStatus (status, changedAt), byNote (note);",
			"let items of table p-Orders expire by _ttl",
		}},
		{name: "both indexes, one at a time", change: func(d *live) { d.GlobalSecondaryIndexes = nil }, steps: []string{
			"add index byStatus (status, changedAt) to table p-Orders: DynamoDB reads its items at no charge, and writes " +
				"those that belong into the index, once; that is up to 3048 write units for the 1000 items (2.0 MB) of its " +
				"last count, up to six hours ago",
			"add index byNote (note) to table p-Orders",
		}},
		{name: "the expiry", change: func(d *live) {
			d.ttl = types.TimeToLiveDescription{}
		}, steps: []string{"let items of table p-Orders expire"}},
		{name: "an expiry that is being switched on", ready: true, change: func(d *live) {
			d.ttl.TimeToLiveStatus = types.TimeToLiveStatusEnabling
		}},
		{name: "an expiry by another attribute", wrong: []string{"by the attribute until"}, change: func(d *live) {
			d.ttl.AttributeName = aws.String("until")
		}},
		{name: "an expiry that is being switched off", wrong: []string{"come back in an hour"}, change: func(d *live) {
			d.ttl.TimeToLiveStatus = types.TimeToLiveStatusDisabling
		}},
		{name: "a table that is being made", steps: []string{"wait until table p-Orders is made"}, change: func(d *live) {
			d.TableStatus = types.TableStatusCreating
		}},
		{name: "a table that is being changed", steps: []string{"wait until the change"}, ready: true, change: func(d *live) {
			d.TableStatus = types.TableStatusUpdating
		}},
		{name: "a table that is being removed", steps: []string{"wait until table p-Orders is removed", "create table",
			"let items"},
			change: func(d *live) { d.TableStatus = types.TableStatusDeleting }},
		{name: "a table that cannot be used", wrong: []string{"table p-Orders is ARCHIVED"}, change: func(d *live) {
			d.TableStatus = types.TableStatusArchived
		}},
		{name: "another key", wrong: []string{"has the key (orderId), and needs (id, changedAt)"}, change: func(d *live) {
			d.KeySchema = keySchema("orderId", "")
		}},
		{name: "a key of another type", wrong: []string{"has the key (id, changedAt of type N)"}, change: func(d *live) {
			setType(d, "changedAt", types.ScalarAttributeTypeN)
		}},
		{name: "an index key of another type",
			wrong:  []string{"has the key (status of type B, changedAt), and needs (status, changedAt)"},
			change: func(d *live) { setType(d, "status", types.ScalarAttributeTypeB) }},
		{name: "an index key of another type, to be recreated", delete: true,
			steps:  []string{"remove index byStatus of table p-Orders: it has the key (status of type N", "add index byStatus"},
			change: func(d *live) { setType(d, "status", types.ScalarAttributeTypeN) }},
		{name: "a key of another type in two indexes, to be recreated", delete: true,
			steps: []string{"remove index byStatus", "remove index byNote", "add index byStatus", "add index byNote"},
			change: func(d *live) {
				setType(d, "status", types.ScalarAttributeTypeN)
				d.GlobalSecondaryIndexes[1].KeySchema = keySchema("status", "")
			}},
		{name: "a type that no index has any more", steps: []string{"add index byStatus"}, change: func(d *live) {
			setType(d, "status", types.ScalarAttributeTypeN)
			d.GlobalSecondaryIndexes = d.GlobalSecondaryIndexes[1:]
		}},
		{name: "an index of others that has a text as a number", delete: true,
			wrong: []string{"index ofOthers of table p-Orders, which is of no model, has the key attribute status of type N, " +
				"and rows have it of type S"},
			steps: []string{"wait until the change of index ofOthers", "remove index byStatus", "add index byStatus"},
			change: func(d *live) {
				setType(d, "status", types.ScalarAttributeTypeN)
				d.GlobalSecondaryIndexes = append(d.GlobalSecondaryIndexes, ofOthers("status"))
			}},
		{name: "an index of others that has a number as a text",
			wrong: []string{"has the key attribute count of type S, and rows have it of type N"},
			change: func(d *live) {
				d.AttributeDefinitions = append(d.AttributeDefinitions, definitions("count")...)
				d.GlobalSecondaryIndexes = append(d.GlobalSecondaryIndexes, ofOthers("count"))
			}},
		{name: "an index of others that has what a row is marked with as a text",
			wrong: []string{"has the key attribute _deleted of type S"},
			change: func(d *live) {
				d.AttributeDefinitions = append(d.AttributeDefinitions, definitions("_deleted")...)
				d.GlobalSecondaryIndexes = append(d.GlobalSecondaryIndexes, ofOthers("_deleted"))
			}},
		{name: "an index of others of an attribute as rows have it", ready: true, change: func(d *live) {
			d.GlobalSecondaryIndexes = append(d.GlobalSecondaryIndexes, ofOthers("note"))
		}},
		{name: "an index that is being filled", steps: []string{"wait until index byNote of table p-Orders is filled"},
			change: func(d *live) {
				d.GlobalSecondaryIndexes[1].IndexStatus = types.IndexStatusCreating
			}},
		{name: "an index to be recreated while another is being filled", delete: true,
			steps: []string{"wait until index byStatus", "remove index byNote", "add index byNote"},
			change: func(d *live) {
				otherIndexKey(d)
				d.GlobalSecondaryIndexes[0].IndexStatus = types.IndexStatusCreating
			}},
		{name: "an index to be recreated while one of others is being filled", delete: true,
			steps: []string{"wait until the change of index ofOthers", "remove index byNote", "add index byNote"},
			change: func(d *live) {
				otherIndexKey(d)
				d.GlobalSecondaryIndexes = append(d.GlobalSecondaryIndexes, ofOthers("note"))
			}},
		{name: "an index that is being removed", steps: []string{"wait until the former index byNote", "add index byNote"},
			change: func(d *live) {
				d.GlobalSecondaryIndexes[1].IndexStatus = types.IndexStatusDeleting
			}},
		{name: "an index with another key", wrong: []string{"has the key (other), and needs (note): it has to be removed"},
			change: otherIndexKey},
		{name: "an index with another key, to be recreated", delete: true, change: otherIndexKey,
			steps: []string{"remove index byNote of table p-Orders: it has the key (other)", "add index byNote"}},
		{name: "an index that holds too little",
			wrong: []string{"byNote of table p-Orders holds some attributes, and needs all"}, change: func(d *live) {
				d.GlobalSecondaryIndexes[1].Projection = &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly}
			}},
		{name: "an index without one attribute",
			wrong: []string{"byStatus of table p-Orders does not hold the attribute note"}, change: func(d *live) {
				d.GlobalSecondaryIndexes[0].Projection.NonKeyAttributes = []string{"_own"}
			}},
		{name: "an index that holds more", ready: true, change: func(d *live) {
			d.GlobalSecondaryIndexes[0].Projection = &types.Projection{ProjectionType: types.ProjectionTypeAll}
		}},
		{name: "an index of others", ready: true, delete: true, change: func(d *live) {
			d.GlobalSecondaryIndexes = append(d.GlobalSecondaryIndexes, ofOthers("x"))
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			layouts, _, err := (&Tables{Needed: []*driver.Table{dynamotest.Orders(0)}}).layouts("p-")
			if err != nil {
				t.Fatal(err)
			}
			want := layouts[0]
			have := map[string]*live{}
			if tc.change != nil {
				d := asMade(want)
				tc.change(d)
				have[want.Table] = d
			}
			plan := makePlan([]layout.Layout{want}, nil, have, tc.delete)
			wantTexts(t, "step", texts(plan.Steps), tc.steps, strings.HasPrefix)
			wantTexts(t, "wrong", messages(plan.Wrong), tc.wrong, strings.Contains)
			if err := plan.ready(); (err == nil) != tc.ready {
				t.Errorf("ready: %v", err)
			} else if err != nil && !errors.Is(err, driver.ErrTablesNotReady) {
				t.Errorf("%v, want ErrTablesNotReady", err)
			}
		})
	}
}

func ofOthers(attr string) types.GlobalSecondaryIndexDescription {
	return types.GlobalSecondaryIndexDescription{
		IndexName: aws.String("ofOthers"), IndexStatus: types.IndexStatusCreating, KeySchema: keySchema(attr, ""),
	}
}

func otherIndexKey(d *live) {
	d.GlobalSecondaryIndexes[1].KeySchema = keySchema("other", "")
	d.AttributeDefinitions = append(d.AttributeDefinitions, definitions("other")...)
}

func setType(d *live, attr string, to types.ScalarAttributeType) {
	for i := range d.AttributeDefinitions {
		if *d.AttributeDefinitions[i].AttributeName == attr {
			d.AttributeDefinitions[i].AttributeType = to
		}
	}
}

func texts(steps []Step) (list []string) {
	for _, s := range steps {
		list = append(list, s.Text)
	}
	return list
}

func messages(errs []error) (list []string) {
	for _, err := range errs {
		list = append(list, err.Error())
	}
	return list
}

func wantTexts(t *testing.T, what string, got, want []string, matches func(got, want string) bool) {
	t.Helper()
	if !slices.EqualFunc(got, want, matches) {
		t.Errorf("%s: got\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestFormerGenerationsGoOnlyWhenThatIsAllowed(t *testing.T) {
	want, former := layout.Of("", dynamotest.Orders(2)), layout.Of("", dynamotest.Orders(1))
	have := map[string]*live{want.Table: asMade(want), former.Table: asMade(former)}
	kept := makePlan([]layout.Layout{want}, []layout.Layout{former}, have, false)
	wantTexts(t, "kept", kept.Kept, []string{"table Orders.g1 with its items (1000 by its last count, up to six hours " +
		"ago) is of a former generation"},
		strings.HasPrefix)
	wantTexts(t, "steps", texts(kept.Steps), nil, strings.HasPrefix)
	gone := makePlan([]layout.Layout{want}, []layout.Layout{former}, have, true)
	wantTexts(t, "steps", texts(gone.Steps), []string{"remove table Orders.g1 with its items (1000 by its last count"},
		strings.HasPrefix)
	if err := gone.ready(); err != nil {
		t.Errorf("a server does not start before a table is removed that it does not use: %v", err)
	}
}

func TestANeededTableIsNeverAFormerOne(t *testing.T) {
	both := Tables{Needed: []*driver.Table{dynamotest.Orders(1)}, Former: []*driver.Table{dynamotest.Orders(0),
		dynamotest.Orders(1)}}
	want, former, err := both.layouts("p-")
	if err != nil || len(want) != 1 || len(former) != 1 || former[0].Table != "p-Orders" {
		t.Errorf("want %v, former %v, %v", want, former, err)
	}
}

func TestModelsThatShareATableShareItsIndexes(t *testing.T) {
	first, second := dynamotest.Orders(0), dynamotest.Orders(0)
	second.Indexes = []driver.Index{
		{Name: "byStatus", PK: []int{2}, SK: []int{1}, Projected: []int{1, 2}},
		{Name: "third", PK: []int{3}, SK: []int{1}, Projected: []int{3}},
	}
	want, _, err := (&Tables{Needed: []*driver.Table{first, second}}).layouts("")
	if err != nil || len(want) != 1 {
		t.Fatalf("%d tables, %v", len(want), err)
	}
	var got []string
	for _, x := range want[0].Indexes {
		got = append(got, fmt.Sprint(x.Name, keyText(x.PK, x.SK), x.Projection, x.NonKey))
	}
	if diff := cmp.Diff([]string{
		"byStatus(status, changedAt)INCLUDE[note _own]", "byNote(note)ALL[]", "third(note, changedAt)KEYS_ONLY[]",
	}, got); diff != "" {
		t.Error(diff)
	}
	second.Indexes[0].PK = []int{3}
	if _, _, err := (&Tables{Needed: []*driver.Table{first, second}}).layouts(""); !errors.Is(err, driver.ErrInvalid) {
		t.Errorf("two keys of one index: %v", err)
	}
	second.Sorted = false
	if _, _, err := (&Tables{Needed: []*driver.Table{first, second}}).layouts(""); !errors.Is(err, driver.ErrInvalid) {
		t.Errorf("two keys of one table: %v", err)
	}
}
