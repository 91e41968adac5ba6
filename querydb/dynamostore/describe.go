package dynamostore

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/foldql/foldql/querydb/dynamostore/internal/client"
	"github.com/foldql/foldql/querydb/dynamostore/internal/layout"
)

// live is a table as it is.
type live struct {
	types.TableDescription
	ttl types.TimeToLiveDescription
}

// describeAll describes the tables that are there, by name.
func (m *manager) describeAll(ctx context.Context, all []layout.Layout) (map[string]*live, error) {
	list := make([]*live, len(all))
	err := m.client.Each(ctx, len(all), func(ctx context.Context, i int) (err error) {
		if list[i], err = m.describe(ctx, all[i].Table); err != nil {
			err = client.Wrap("describe", all[i].Table, err)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	have := map[string]*live{}
	for i, d := range list {
		if d != nil {
			have[all[i].Table] = d
		}
	}
	return have, nil
}

// describeTable returns nil where the table is not there.
func (m *manager) describeTable(ctx context.Context, table string) (d *types.TableDescription, err error) {
	err = m.client.Send(ctx, time.Time{}, func(ctx context.Context, _ bool) error {
		out, err := m.client.API.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
		if err == nil {
			d = out.Table
		}
		return err
	})
	if _, missing := client.As[*types.ResourceNotFoundException](err); missing {
		return nil, nil
	}
	return d, err
}

// describe returns nil where the table is not there.
func (m *manager) describe(ctx context.Context, table string) (*live, error) {
	is, err := m.describeTable(ctx, table)
	if err != nil || is == nil {
		return nil, err
	}
	d := &live{TableDescription: *is}
	if d.TableStatus != types.TableStatusDeleting && d.TableStatus != types.TableStatusCreating {
		err = m.client.Send(ctx, time.Time{}, func(ctx context.Context, _ bool) error {
			out, err := m.client.API.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &table})
			if err == nil && out.TimeToLiveDescription != nil {
				d.ttl = *out.TimeToLiveDescription
			}
			return err
		})
	}
	if _, missing := client.As[*types.ResourceNotFoundException](err); missing {
		return nil, nil
	}
	return d, err
}

// keySchema is the key of a table or an index; sk is "" where it has no sort key.
func keySchema(pk, sk string) []types.KeySchemaElement {
	list := []types.KeySchemaElement{{AttributeName: &pk, KeyType: types.KeyTypeHash}}
	if sk != "" {
		list = append(list, types.KeySchemaElement{AttributeName: &sk, KeyType: types.KeyTypeRange})
	}
	return list
}

// definitions are those of the attributes, each once, in order.
func definitions(attrs ...string) []types.AttributeDefinition {
	slices.Sort(attrs)
	var list []types.AttributeDefinition
	for _, a := range slices.Compact(attrs) {
		if a != "" {
			list = append(list, types.AttributeDefinition{AttributeName: &a, AttributeType: types.ScalarAttributeTypeS})
		}
	}
	return list
}

// keyText is a key as messages show it: (id, changedAt).
func keyText(pk, sk string) string {
	if sk == "" {
		return "(" + pk + ")"
	}
	return "(" + pk + ", " + sk + ")"
}

// haveKeyText is the key of what is there, with the types of attributes that are no texts.
func haveKeyText(key []types.KeySchemaElement, attrs []types.AttributeDefinition) string {
	var names []string
	for _, k := range key {
		name := *k.AttributeName
		for _, a := range attrs {
			if *a.AttributeName == name && a.AttributeType != types.ScalarAttributeTypeS {
				name += " of type " + string(a.AttributeType)
			}
		}
		names = append(names, name)
	}
	return "(" + strings.Join(names, ", ") + ")"
}
