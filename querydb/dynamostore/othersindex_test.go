package dynamostore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/internal/backoff"
	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/internal/tests/dynamotest"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/layout"
	"github.com/foldql/foldql/querydb/record"
)

// TestARowThatAnIndexOfOthersCannotHoldWaitsUntilTheIndexIsGone: nothing is wrong with it that would make its event a
// dead letter.
func TestARowThatAnIndexOfOthersCannotHoldWaitsUntilTheIndexIsGone(t *testing.T) {
	table := &driver.Table{Name: "Noted", PK: []int{0}, NoExpiry: true,
		Fields: []driver.Field{{Name: "id", Scalar: "ID"}, {Name: "note", Scalar: "String"}}}
	noted := func(id, note string) driver.Write {
		k := keys.Key{PK: id}
		row := dynamotest.RowOf(t, k, func(b *record.Builder) { b.String(id); b.String(note) }, 2)
		row.Position = dynamotest.Position(1)
		return driver.Write{Table: table, Row: row}
	}
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		notes := []string{"", strings.Repeat("x", 2049)}
		if e == dynamolocal.Dynoxide {
			notes = notes[:1] // it takes long ones
		}
		s := open(t, e, Config{})
		makeWithIndexOfOthers(t, s, table, "note")
		for _, note := range notes {
			for _, atomic := range []bool{false, true} {
				b := driver.Batch{Writes: []driver.Write{noted("a", "fine"), noted("b", note)}, Atomic: atomic}
				err := s.Apply(t.Context(), b)
				if !errors.Is(err, driver.ErrUnavailable) || errors.Is(err, driver.ErrPartial) ||
					!strings.Contains(err.Error(), "remove that index") {
					t.Errorf("a note of %d bytes, atomic %t: %v, want ErrUnavailable that says what to do", len(note), atomic, err)
				}
			}
		}
		name := layout.Of(s.tables.prefix, table).Table
		if _, err := s.client.API.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{TableName: &name,
			GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{
				{Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: aws.String("ofOthers")}},
			}}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for i, note := range notes {
			b := driver.Batch{Writes: []driver.Write{noted(fmt.Sprint("b", i), note)}}
			for err := s.Apply(ctx, b); err != nil; err = s.Apply(ctx, b) {
				if backoff.Wait(ctx, firstLook) != nil {
					t.Fatalf("without the index: %v", err)
				}
			}
		}
	})
}

// makeWithIndexOfOthers makes the table with an index that its model does not have.
func makeWithIndexOfOthers(t *testing.T, s *Store, table *driver.Table, attr string) {
	t.Helper()
	l := layout.Of(s.tables.prefix, table)
	in := createInput(&l)
	in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
		IndexName: aws.String("ofOthers"), KeySchema: keySchema(attr, ""),
		Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
	})
	in.AttributeDefinitions = append(in.AttributeDefinitions, definitions(attr)...)
	if _, err := s.client.API.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if err := s.ApplyTables(t.Context(), Tables{Needed: []*driver.Table{table}}, false, func(string) {}); err != nil {
		t.Fatal(err)
	}
}
