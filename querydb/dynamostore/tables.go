package dynamostore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/client"
	"github.com/foldql/foldql/querydb/dynamostore/internal/layout"
)

// Tables are those that a program needs, and those that it has no use for any more.
type Tables struct {
	Needed []*driver.Table
	Former []*driver.Table // only Name and Generation count; none of Needed
}

// manager makes and changes tables.
type manager struct {
	client *client.Client
	prefix string // of the names of all tables
}

func newManager(c *client.Client, prefix string) *manager { return &manager{client: c, prefix: prefix} }

// Plan compares the tables with those that are there, and changes nothing.
func (m *manager) Plan(ctx context.Context, t Tables, allowDelete bool) (Plan, error) {
	want, former, err := t.layouts(m.prefix)
	if err != nil {
		return Plan{}, err
	}
	have, err := m.describeAll(ctx, slices.Concat(want, former))
	if err != nil {
		return Plan{}, err
	}
	return makePlan(want, former, have, allowDelete), nil
}

// CheckTables fails, naming what is missing and what to do, where rows of the tables cannot be read and written.
func (m *manager) CheckTables(ctx context.Context, needed []*driver.Table) error {
	plan, err := m.Plan(ctx, Tables{Needed: needed}, false)
	if err != nil {
		return err
	}
	return plan.ready()
}

// TableIDs implements driver.Identifier.
func (m *manager) TableIDs(ctx context.Context, tables []*driver.Table) ([]string, error) {
	all := make([]string, len(tables))
	return all, m.client.Each(ctx, len(tables), func(ctx context.Context, i int) (err error) {
		all[i], err = m.tableID(ctx, tables[i])
		return err
	})
}

// tableID names the table for as long as it is that one: another of its name, made or restored later, has another. It
// is "" where there is no table.
func (m *manager) tableID(ctx context.Context, t *driver.Table) (string, error) {
	l := layout.Of(m.prefix, t)
	d, err := m.describeTable(ctx, l.Table)
	if err != nil {
		return "", client.Wrap("describe", l.Table, err)
	}
	if d == nil || d.TableStatus == types.TableStatusDeleting {
		return "", nil
	}
	if d.TableId != nil && *d.TableId != "" {
		return *d.TableId, nil
	}
	if d.CreationDateTime == nil {
		return "", fmt.Errorf("dynamostore: %w: table %s does not say when it was made", driver.ErrUnavailable, l.Table)
	}
	return d.CreationDateTime.UTC().Format(time.RFC3339Nano), nil
}

// Exists reports whether the table can be read.
func (m *manager) Exists(ctx context.Context, t *driver.Table) (bool, error) {
	l := layout.Of(m.prefix, t)
	have, err := m.describeAll(ctx, []layout.Layout{l})
	if err != nil || have[l.Table] == nil {
		return false, err
	}
	status := have[l.Table].TableStatus
	return status == types.TableStatusActive || status == types.TableStatusUpdating, nil
}
