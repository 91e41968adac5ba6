package faultproxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
)

func TestWithoutConditionsAnUpdateHasNothingThatOnlyTheyUse(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{
			"a position",
			`{"TableName":"T","UpdateExpression":"SET #a = :a, #p = ` +
				`:p","ConditionExpression":"attribute_not_exists(#p) OR #p < ` +
				`:p OR #z = :z",` +
				`"ExpressionAttributeNames":{"#a":"a","#p":"p","#z":"z"},"ExpressionAttributeValues":{":a":{"S":"1"},":p":{"N":"2"},":z":{"N":"3"}}}`,
			`{"TableName":"T","UpdateExpression":"SET #a = :a, #p = :p","ExpressionAttributeNames":{"#a":"a","#p":"p"},` +
				`"ExpressionAttributeValues":{":a":{"S":"1"},":p":{"N":"2"}}}`,
		},
		{
			"nothing left",
			`{"UpdateExpression":"REMOVE a","ConditionExpression":"#p < ` +
				`:p","ExpressionAttributeNames":{"#p":"p"},"ExpressionAttributeValues":{":p":{"N":"2"}}}`,
			`{"UpdateExpression":"REMOVE a"}`,
		},
		{"no condition", update, update},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, _, url := serve(t, Config{Without: WriteConditions}, `{}`)
			if _, _, err := send(t, url, "UpdateItem", c.body); err != nil {
				t.Fatal(err)
			}
			var got, want any
			if err := errors.Join(json.Unmarshal([]byte(b.received()[0].Body), &got), json.Unmarshal([]byte(c.want),
				&want)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("forwarded (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWhatIsTakenOutOfATransactionBecomesAConditionThatHolds, and all else stays as it is.
func TestWhatIsTakenOutOfATransactionBecomesAConditionThatHolds(t *testing.T) {
	const (
		row    = `{"Update":{"TableName":"Card","Key":{"id":{"S":"c1"}},"ConditionExpression":"a"}}`
		source = `{"ConditionCheck":{"TableName":"Owner","Key":{"id":{"S":"o1"}},"ConditionExpression":"a"}}`
		named  = `{"Update":{"TableName":"Card","Key":{"id":{"S":"link:x"}}}}`
		link   = `{"Update":{"TableName":"notes","Key":{"id":{"S":"link:Card.g0:Card"},"_subId":{"S":"k"}}}}`
		unlink = `{"Delete":{"TableName":"notes","Key":{"id":{"S":"link:Card.g0:Card"},"_subId":{"S":"l"}}}}`
		header = `{"ConditionCheck":{"TableName":"notes","Key":{"id":{"S":"projection"}},"ConditionExpression":"a"}}`
	)
	instead := func(table, key string) string {
		return fmt.Sprintf(`{"ConditionCheck":{"TableName":%q,"Key":%s,"ConditionExpression":`+
			`"attribute_exists(#any) OR attribute_not_exists(#any)","ExpressionAttributeNames":{"#any":"any"}}}`, table, key)
	}
	transaction := func(elements ...string) string {
		all := []json.RawMessage{}
		for _, e := range elements {
			all = append(all, json.RawMessage(e))
		}
		return string(encode(map[string]any{"ClientRequestToken": "t", "TransactItems": all}))
	}
	was := transaction(row, source, named, link, unlink, header)
	for name, c := range map[string]struct {
		without Without
		want    string
	}{
		"nothing": {Nothing, was},
		"conditions of sources": {SourceConditions, transaction(row, instead("Owner", `{"id":{"S":"o1"}}`), named, link, unlink,
			header)},
		"links": {Links, transaction(row, source, named, instead("notes", `{"id":{"S":"link:Card.g0:Card"},"_subId":{"S":"k"}}`),
			instead("notes", `{"id":{"S":"link:Card.g0:Card"},"_subId":{"S":"l"}}`), header)},
		"resumption": {Resumption, was},
	} {
		t.Run(name, func(t *testing.T) {
			b, _, url := serve(t, Config{Without: c.without, Notes: "notes"}, `{}`)
			if _, _, err := send(t, url, "TransactWriteItems", was); err != nil {
				t.Fatal(err)
			}
			sameJSON(t, c.want, b.received()[0].Body)
		})
	}
}

// TestOneConditionOfRowsIsTakenOut of updates and of transactions; those of notes, and others of rows, stay.
func TestOneConditionOfRowsIsTakenOut(t *testing.T) {
	const (
		position = `"ConditionExpression":"attribute_not_exists(#pos) OR #pos < :pos",` +
			`"ExpressionAttributeNames":{"#pos":"p"},"ExpressionAttributeValues":{":pos":{"N":"2"}}`
		revision = `"ConditionExpression":"#rev = :read",` +
			`"ExpressionAttributeNames":{"#rev":"r"},"ExpressionAttributeValues":{":read":{"N":"2"}}`
	)
	of := func(table, condition string) string {
		if condition != "" {
			condition = "," + condition
		}
		return fmt.Sprintf(`{"TableName":%q%s}`, table, condition)
	}
	for _, c := range []struct {
		without              Without
		table, is, conserved string
	}{
		{PositionConditions, "Card", position, ""}, {PositionConditions, "Card", revision, revision},
		{RevisionConditions, "Card", revision, ""}, {RevisionConditions, "Card", position, position},
		{PositionConditions, "notes", position, position}, {RevisionConditions, "notes", revision, revision},
	} {
		b, _, url := serve(t, Config{Without: c.without, Notes: "notes"}, `{}`)
		if _, _, err := send(t, url, "UpdateItem", of(c.table, c.is)); err != nil {
			t.Fatal(err)
		}
		sameJSON(t, of(c.table, c.conserved), b.received()[0].Body)
		transaction := func(condition string) string {
			return fmt.Sprintf(`{"TransactItems":[{"Update":%s},{"ConditionCheck":%s}]}`, of(c.table, condition),
				of(c.table, c.is))
		}
		if _, _, err := send(t, url, "TransactWriteItems", transaction(c.is)); err != nil {
			t.Fatal(err)
		}
		sameJSON(t, transaction(c.conserved), b.received()[1].Body)
	}
}

// TestAQueryForCascadesAsksForNone, and any other for what it did.
func TestAQueryForCascadesAsksForNone(t *testing.T) {
	query := func(table, kind string) string {
		return fmt.Sprintf(`{"TableName":%q,"Limit":9,"ExpressionAttributeValues":{":pk":{"S":%q}}}`, table, kind)
	}
	for _, c := range []struct{ is, want string }{
		{query("notes", "cascade:Card.g0:Card"), query("notes", "no cascade:")},
		{query("notes", "link:Card.g0:Card"), query("notes", "link:Card.g0:Card")},
		{query("Card", "cascade:Card.g0:Card"), query("Card", "cascade:Card.g0:Card")},
	} {
		b, _, url := serve(t, Config{Without: Resumption, Notes: "notes"}, `{}`)
		if _, _, err := send(t, url, "Query", c.is); err != nil {
			t.Fatal(err)
		}
		sameJSON(t, c.want, b.received()[0].Body)
	}
}

func sameJSON(t *testing.T, want, got string) {
	t.Helper()
	var w, g any
	if err := errors.Join(json.Unmarshal([]byte(want), &w), json.Unmarshal([]byte(got), &g)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Errorf("forwarded (-want +got):\n%s", diff)
	}
}

// TestATransactionIsDoneWithoutWhatIsTakenOut by the engines: a condition that fails does not stop it, a link is not
// written, and where another condition fails there is a reason for each element.
func TestATransactionIsDoneWithoutWhatIsTakenOut(t *testing.T) {
	for _, engine := range dynamolocal.Engines() {
		t.Run(string(engine), func(t *testing.T) {
			place := dynamolocal.Start(t, engine)
			place.Setenv(t)
			notes, rows := place.Prefix+"notes", place.Prefix+"rows"
			client := func(without Without) *dynamodb.Client {
				p := New(Config{Backend: place.URL, Without: without, Notes: notes})
				front := httptest.NewServer(p)
				t.Cleanup(func() {
					front.Close()
					p.Close()
				})
				cfg, err := config.LoadDefaultConfig(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				return dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.BaseEndpoint = &front.URL })
			}
			whole := client(Nothing)
			createTable(t, whole, notes)
			createTable(t, whole, rows)
			item := func(id string) map[string]types.AttributeValue { return map[string]types.AttributeValue{"id": s(id)} }
			put := func(table, id string, condition *string) types.TransactWriteItem {
				return types.TransactWriteItem{Put: &types.Put{TableName: &table, Item: item(id), ConditionExpression: condition}}
			}
			written := func(id string) types.TransactWriteItem {
				return types.TransactWriteItem{Update: &types.Update{TableName: &notes, Key: item(id),
					UpdateExpression:          aws.String("SET x = :x"),
					ExpressionAttributeValues: map[string]types.AttributeValue{":x": s("1")}}}
			}
			there := func(id string) types.TransactWriteItem {
				return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: &rows, Key: item(id),
					ConditionExpression: aws.String("attribute_exists(id)")}}
			}
			send := func(c *dynamodb.Client, elements ...types.TransactWriteItem) error {
				_, err := c.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: elements})
				return err
			}
			if send(whole, put(rows, "a", nil), there("none")) == nil {
				t.Error("with the condition on a row that is not there, the transaction is done")
			}
			if err := send(client(SourceConditions), put(rows, "a", nil), there("none")); err != nil {
				t.Errorf("without the condition: %v", err)
			}
			if err := send(client(Links), put(rows, "b", nil), written("link:1"), written("other")); err != nil {
				t.Errorf("without links: %v", err)
			}
			all, err := whole.Scan(t.Context(), &dynamodb.ScanInput{TableName: &notes, ConsistentRead: aws.Bool(true)})
			if err != nil {
				t.Fatal(err)
			}
			if len(all.Items) != 1 || all.Items[0]["id"].(*types.AttributeValueMemberS).Value != "other" {
				t.Errorf("the notes are %v, want the one that is no link", all.Items)
			}
			err = send(client(SourceConditions), there("none"), put(rows, "a", aws.String("attribute_not_exists(id)")))
			var cancelled *types.TransactionCanceledException
			if !errors.As(err, &cancelled) || len(cancelled.CancellationReasons) != 2 ||
				*cancelled.CancellationReasons[0].Code != "None" ||
				*cancelled.CancellationReasons[1].Code != "ConditionalCheckFailed" {
				t.Errorf("a row that is there, written once more: %v", err)
			}
		})
	}
}
