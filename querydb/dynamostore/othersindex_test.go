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

// noted is a table of rows with a text that no index of its model has.
var noted = &driver.Table{Name: "Noted", PK: []int{0}, NoExpiry: true,
	Fields: []driver.Field{{Name: "id", Scalar: "ID"}, {Name: "note", Scalar: "String"}}}

func note(t *testing.T, id, text string) driver.Write {
	row := dynamotest.RowOf(t, keys.Key{PK: id}, func(b *record.Builder) { b.String(id); b.String(text) }, 2)
	row.Position = dynamotest.Position(1)
	return driver.Write{Table: noted, Row: row}
}

// TestARowThatAnIndexOfOthersCannotHoldWaitsUntilTheIndexIsGone: nothing is wrong with it that would make its event a
// dead letter.
func TestARowThatAnIndexOfOthersCannotHoldWaitsUntilTheIndexIsGone(t *testing.T) {
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		notes := []string{"", strings.Repeat("x", 2049)}
		if e == dynamolocal.Dynoxide {
			notes = notes[:1] // it takes long ones
		}
		s := open(t, e, Config{})
		makeWithIndexOfOthers(t, s, noted, "note", types.ScalarAttributeTypeS)
		if err := s.ApplyTables(t.Context(), Tables{Needed: []*driver.Table{noted}}, false, func(string) {}); err != nil {
			t.Fatal(err)
		}
		for _, text := range notes {
			for _, atomic := range []bool{false, true} {
				b := driver.Batch{Writes: []driver.Write{note(t, "a", "fine"), note(t, "b", text)}, Atomic: atomic}
				err := s.Apply(t.Context(), b)
				if !errors.Is(err, driver.ErrUnavailable) || errors.Is(err, driver.ErrPartial) ||
					!strings.Contains(err.Error(), "remove that index") {
					t.Errorf("a note of %d bytes, atomic %t: %v, want ErrUnavailable that says what to do", len(text), atomic, err)
				}
			}
		}
		name := layout.Of(s.tables.prefix, noted).Table
		if _, err := s.client.API.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{TableName: &name,
			GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{
				{Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: aws.String("ofOthers")}},
			}}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for i, text := range notes {
			b := driver.Batch{Writes: []driver.Write{note(t, fmt.Sprint("b", i), text)}}
			for err := s.Apply(ctx, b); err != nil; err = s.Apply(ctx, b) {
				if backoff.Wait(ctx, firstLook) != nil {
					t.Fatalf("without the index: %v", err)
				}
			}
		}
	})
}

// makeWithIndexOfOthers makes the table with an index that its model does not have.
func makeWithIndexOfOthers(t *testing.T, s *Store, table *driver.Table, attr string, of types.ScalarAttributeType) {
	t.Helper()
	l := layout.Of(s.tables.prefix, table)
	in := createInput(&l)
	in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
		IndexName: aws.String("ofOthers"), KeySchema: keySchema(attr, ""),
		Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
	})
	in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: &attr,
		AttributeType: of})
	if _, err := s.client.API.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}

// TestWhereAnIndexOfOthersHasAKeyOfAnotherTypeTheErrorSaysSo: nothing is wrong with the text of the row.
func TestWhereAnIndexOfOthersHasAKeyOfAnotherTypeTheErrorSaysSo(t *testing.T) {
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		s := open(t, e, Config{})
		makeWithIndexOfOthers(t, s, noted, "note", types.ScalarAttributeTypeN)
		for _, atomic := range []bool{false, true} {
			err := s.Apply(t.Context(), driver.Batch{Writes: []driver.Write{note(t, "a", "7")}, Atomic: atomic})
			if !errors.Is(err, driver.ErrUnavailable) || !strings.Contains(err.Error(), "another type") {
				t.Errorf("atomic %t: %v, want ErrUnavailable that tells of the type", atomic, err)
			}
		}
	})
}
