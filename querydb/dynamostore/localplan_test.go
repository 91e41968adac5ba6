package dynamostore

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/foldql/foldql/internal/tests/dynamotest"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/layout"
)

func TestALocalIndexThatHoldsTooLittleIsRefused(t *testing.T) {
	layouts, _, err := (&Tables{Needed: []*driver.Table{dynamotest.Prioritised()}}).layouts("p-")
	if err != nil {
		t.Fatal(err)
	}
	want := layouts[0]
	d := asMade(want)
	d.LocalSecondaryIndexes = []types.LocalSecondaryIndexDescription{{
		IndexName: d.GlobalSecondaryIndexes[0].IndexName, KeySchema: d.GlobalSecondaryIndexes[0].KeySchema,
		Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
	}}
	d.GlobalSecondaryIndexes = nil
	plan := makePlan([]layout.Layout{want}, nil, map[string]*live{want.Table: d}, true)
	if len(plan.Steps) != 0 || len(plan.Wrong) != 1 {
		t.Errorf("steps %v, wrong %q; want the index refused, which cannot be changed", plan.Steps, plan.Wrong)
	}
}
