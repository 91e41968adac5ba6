package dynamostore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/foldql/foldql/internal/backoff"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/client"
	"github.com/foldql/foldql/querydb/dynamostore/internal/layout"
)

// How long to wait between two looks at what DynamoDB is doing.
const (
	firstLook = 50 * time.Millisecond
	mostLook  = 10 * time.Second
	tellAgain = 30 * time.Second // of a step that takes long
)

// ApplyTables carries out the Plan, and returns when all of it is done; tell hears of each step as it begins, and now
// and then while it lasts. What is to do follows from what is there alone, so an interrupted call is resumed by
// another.
func (m *manager) ApplyTables(ctx context.Context, t Tables, allowDelete bool, tell func(string)) error {
	announced := map[string]time.Time{}
	for look := firstLook; ; look = min(look*2, mostLook) {
		plan, err := m.Plan(ctx, t, allowDelete)
		if err != nil {
			return err
		}
		if len(plan.Wrong) > 0 {
			return fmt.Errorf("dynamostore: %w: %w", driver.ErrInvalid, errors.Join(plan.Wrong...))
		}
		next := plan.next()
		if len(next) == 0 {
			return nil
		}
		for _, step := range next {
			last := announced[step.Text]
			if time.Since(last) > tellAgain {
				announced[step.Text] = time.Now()
				tell(step.Text)
			}
			if last.IsZero() {
				look = firstLook
			}
			if err := m.carryOut(ctx, step); err != nil {
				return client.Wrap("change", step.Table, err)
			}
		}
		if err := backoff.Wait(ctx, look); err != nil {
			return err
		}
	}
}

// next are the steps that can be done now: the first one of each table.
func (p *Plan) next() (list []Step) {
	begun := map[string]bool{}
	for _, step := range p.Steps {
		if !begun[step.Table] {
			begun[step.Table] = true
			list = append(list, step)
		}
	}
	return list
}

// carryOut sends the request of a step. One that is not needed any more, because the step was done already, is no
// error: descriptions of tables lag behind.
func (m *manager) carryOut(ctx context.Context, step Step) error {
	err := m.client.Send(ctx, time.Time{}, func(ctx context.Context, _ bool) error { return m.request(ctx, step) })
	var busy *types.ResourceInUseException
	var missing *types.ResourceNotFoundException
	var api smithy.APIError
	switch {
	case errors.As(err, &busy):
		return nil
	case errors.As(err, &missing) && (step.Act == RemoveIndex || step.Act == RemoveTable || step.Act == EnableTTL):
		return nil
	case step.Act == EnableTTL && errors.As(err, &api) && strings.Contains(api.ErrorMessage(), "already enabled"):
		return nil
	}
	return err
}

func (m *manager) request(ctx context.Context, step Step) (err error) {
	switch step.Act {
	case CreateTable:
		_, err = m.client.API.CreateTable(ctx, createInput(&step.layout))
	case EnableTTL:
		_, err = m.client.API.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
			TableName: &step.Table,
			TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String(layout.AttrTTL),
				Enabled: aws.Bool(true)},
		})
	case AddIndex:
		_, err = m.client.API.UpdateTable(ctx, addIndexInput(&step))
	case RemoveIndex:
		_, err = m.client.API.UpdateTable(ctx, &dynamodb.UpdateTableInput{
			TableName: &step.Table,
			GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{
				{Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: &step.Index}},
			},
		})
	case RemoveTable:
		err = m.removeTable(ctx, &step)
	}
	return err
}

// removeTable takes the protection away first; when that is done, the plan has the same step again.
func (m *manager) removeTable(ctx context.Context, step *Step) (err error) {
	if aws.ToBool(step.have.DeletionProtectionEnabled) {
		_, err = m.client.API.UpdateTable(ctx, &dynamodb.UpdateTableInput{
			TableName: &step.Table, DeletionProtectionEnabled: aws.Bool(false),
		})
		return err
	}
	_, err = m.client.API.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &step.Table})
	return err
}

func createInput(l *layout.Layout) *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{
		TableName: &l.Table, BillingMode: types.BillingModePayPerRequest, DeletionProtectionEnabled: aws.Bool(true),
		KeySchema: keySchema(l.PK, l.SK),
	}
	attrs := []string{l.PK, l.SK}
	for _, x := range l.Indexes {
		attrs = append(attrs, x.PK, x.SK)
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: &x.Name, KeySchema: keySchema(x.PK, x.SK), Projection: projected(&x),
		})
	}
	in.AttributeDefinitions = definitions(attrs...)
	return in
}

// addIndexInput gives the index as much throughput as its table has, where that is not billed on demand.
func addIndexInput(step *Step) *dynamodb.UpdateTableInput {
	x := &step.index
	create := &types.CreateGlobalSecondaryIndexAction{
		IndexName: &x.Name, KeySchema: keySchema(x.PK, x.SK), Projection: projected(x),
	}
	if t := step.have.ProvisionedThroughput; t != nil && aws.ToInt64(t.ReadCapacityUnits) > 0 &&
		aws.ToInt64(t.WriteCapacityUnits) > 0 {
		create.ProvisionedThroughput = &types.ProvisionedThroughput{
			ReadCapacityUnits: t.ReadCapacityUnits, WriteCapacityUnits: t.WriteCapacityUnits,
		}
	}
	return &dynamodb.UpdateTableInput{
		TableName: &step.Table, AttributeDefinitions: definitions(step.layout.PK, step.layout.SK, x.PK, x.SK),
		GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: create}},
	}
}

func projected(x *layout.Index) *types.Projection {
	return &types.Projection{ProjectionType: x.Projection, NonKeyAttributes: x.NonKey}
}
