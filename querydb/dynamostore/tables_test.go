package dynamostore

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/internal/tests/dynamotest"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/layout"
)

// onEngines runs a test on an empty store of each engine.
func onEngines(t *testing.T, test func(t *testing.T, s *Store)) {
	for _, e := range dynamolocal.Engines() {
		t.Run(string(e), func(t *testing.T) {
			place := dynamolocal.Start(t, e)
			place.Setenv(t)
			s, err := Open(t.Context(), Config{Prefix: place.Prefix, Endpoint: place.URL})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			test(t, s)
		})
	}
}

func TestTablesAreMadeAndChanged(t *testing.T) {
	onEngines(t, func(t *testing.T, s *Store) {
		quiet := func(string) {}
		bare := dynamotest.Orders(0)
		bare.Indexes = nil
		needed := Tables{Needed: []*driver.Table{bare}}
		if err := s.CheckTables(t.Context(), needed.Needed); !errors.Is(err, driver.ErrUnavailable) ||
			!strings.Contains(err.Error(), "create table") {
			t.Errorf("a missing table: %v", err)
		}
		if err := s.ApplyTables(t.Context(), needed, false, quiet); err != nil {
			t.Fatal(err)
		}
		if err := s.CheckTables(t.Context(), needed.Needed); err != nil {
			t.Fatal(err)
		}
		full := Tables{Needed: []*driver.Table{dynamotest.Orders(0), dynamotest.Orders(1)}}
		if err := s.CheckTables(t.Context(), full.Needed); !errors.Is(err, driver.ErrUnavailable) ||
			!strings.Contains(err.Error(), "add index byStatus") {
			t.Errorf("missing indexes: %v", err)
		}
		interrupted, cancel := context.WithCancel(t.Context())
		if err := s.ApplyTables(interrupted, full, false, func(string) { cancel() }); !errors.Is(err, context.Canceled) {
			t.Errorf("an interrupted apply: %v", err)
		}
		var steps []string
		if err := s.ApplyTables(t.Context(), full, false, func(text string) { steps = append(steps, text) }); err != nil {
			t.Fatal(err)
		}
		if len(steps) == 0 {
			t.Error("no step was announced")
		}
		if err := s.CheckTables(t.Context(), full.Needed); err != nil {
			t.Fatal(err)
		}
		later := Tables{Needed: full.Needed[1:], Former: full.Needed[:1]}
		if err := s.ApplyTables(t.Context(), later, true, quiet); err != nil {
			t.Fatal(err)
		}
		for _, tc := range []struct {
			table *driver.Table
			want  bool
		}{{dynamotest.Orders(0), false}, {dynamotest.Orders(1), true}} {
			if is, err := s.Exists(t.Context(), tc.table); is != tc.want || err != nil {
				t.Errorf("generation %d is there: %v (%v), want %v", tc.table.Generation, is, err, tc.want)
			}
		}
	})
}

func TestAnIndexWithAnotherKeyIsMadeAgainWhereThatIsAllowed(t *testing.T) {
	onEngines(t, func(t *testing.T, s *Store) {
		former := dynamotest.Orders(0)
		former.Indexes[1].PK = []int{2}
		if err := s.ApplyTables(t.Context(), Tables{Needed: []*driver.Table{former}}, false, func(string) {}); err != nil {
			t.Fatal(err)
		}
		now := Tables{Needed: []*driver.Table{dynamotest.Orders(0)}}
		if err := s.ApplyTables(t.Context(), now, false, func(string) {}); !errors.Is(err, driver.ErrInvalid) ||
			!errors.Is(err, driver.ErrRemovalNotAllowed) {
			t.Errorf("without leave: %v", err)
		}
		if err := s.ApplyTables(t.Context(), now, true, func(string) {}); err != nil {
			t.Fatal(err)
		}
		if err := s.CheckTables(t.Context(), now.Needed); err != nil {
			t.Error(err)
		}
	})
}

func TestIndexesWhoseKeyHasAnotherTypeAreMadeAgainWhereThatIsAllowed(t *testing.T) {
	onEngines(t, func(t *testing.T, s *Store) {
		l := layout.Of(s.tables.prefix, dynamotest.Orders(0))
		in := createInput(&l)
		in.DeletionProtectionEnabled = aws.Bool(false)
		for i, a := range in.AttributeDefinitions {
			if *a.AttributeName == "status" {
				in.AttributeDefinitions[i].AttributeType = types.ScalarAttributeTypeN
			}
		}
		in.AttributeDefinitions = slices.DeleteFunc(in.AttributeDefinitions, func(a types.AttributeDefinition) bool {
			return *a.AttributeName == "note"
		})
		in.GlobalSecondaryIndexes[1].KeySchema = keySchema("status", "")
		if _, err := s.client.API.CreateTable(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		now := Tables{Needed: []*driver.Table{dynamotest.Orders(0)}}
		if err := s.ApplyTables(t.Context(), now, true, func(string) {}); err != nil {
			t.Fatal(err)
		}
		if err := s.CheckTables(t.Context(), now.Needed); err != nil {
			t.Error(err)
		}
	})
}

func TestTablesAreProtectedAndExpire(t *testing.T) {
	onEngines(t, func(t *testing.T, s *Store) {
		if err := s.ApplyTables(t.Context(), Tables{Needed: []*driver.Table{dynamotest.Orders(0)}}, false,
			func(string) {}); err != nil {
			t.Fatal(err)
		}
		table := s.tables.prefix + "Orders"
		out, err := s.client.API.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &table})
		if err != nil {
			t.Fatal(err)
		}
		d := out.Table
		expiry, err := s.client.API.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: &table})
		if err != nil {
			t.Fatal(err)
		}
		by := aws.ToString(expiry.TimeToLiveDescription.AttributeName)
		if !aws.ToBool(d.DeletionProtectionEnabled) || d.BillingModeSummary == nil ||
			d.BillingModeSummary.BillingMode != types.BillingModePayPerRequest || by != "_ttl" {
			t.Errorf("protected %v, billing %+v, expiry %+v", d.DeletionProtectionEnabled, d.BillingModeSummary, by)
		}
		if _, err := s.client.API.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: d.TableName}); err == nil {
			t.Error("the table could be deleted")
		}
	})
}
