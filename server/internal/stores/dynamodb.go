package stores

import (
	"context"
	"errors"
	"fmt"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore"
)

// openDynamo opens rows in DynamoDB, where the tables are as the models need them.
func openDynamo(ctx context.Context, cfg dynamostore.Config, o Options) (*Rows, error) {
	cfg.Log, cfg.RowCacheBytes = o.Logger, o.CacheBytes
	drv, err := dynamostore.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := drv.CheckTables(ctx, []*driver.Table{querydb.NotesTable()}); err != nil {
		return nil, errors.Join(err, drv.Close())
	}
	db, err := querydb.Open(ctx, drv, o.Models, querydb.Config{Logger: o.Logger})
	if err != nil {
		return nil, errors.Join(err, drv.Close())
	}
	needed, err := neededTables(ctx, db, o.Models, o.Projections, projection.StartGenerations)
	if err == nil {
		err = drv.CheckTables(ctx, needed)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return Opened(db), nil
}

// generationsOf are the generations that projections write to: projection.TargetGenerations, or StartGenerations.
type generationsOf func(context.Context, *querydb.DB, []projection.Projection) ([]map[*querydb.Model]int, error)

// NeededTables are the tables that the projections will write to, and those that are read beside.
func NeededTables(
	ctx context.Context, db *querydb.DB, models []*querydb.Model, projections []projection.Projection,
) ([]*driver.Table, error) {
	return neededTables(ctx, db, models, projections, projection.TargetGenerations)
}

func neededTables(ctx context.Context, db *querydb.DB, models []*querydb.Model, projections []projection.Projection,
	of generationsOf) ([]*driver.Table, error) {
	targets, err := of(ctx, db, projections)
	if err != nil {
		return nil, fmt.Errorf("find the tables that the projections write to: %w", err)
	}
	list, folded := []*driver.Table{querydb.NotesTable()}, map[*querydb.Model]bool{}
	for i, p := range projections {
		for _, m := range p.Models() {
			list = append(list, m.DriverTable(targets[i][m]))
			folded[m] = true
		}
	}
	for _, m := range models {
		if folded[m] {
			continue
		}
		g, err := db.Generations().Recorded(ctx, m)
		if err != nil {
			return nil, err
		}
		list = append(list, m.DriverTable(g.Number))
	}
	return list, nil
}

// FirstTables are the tables that are needed where nothing has ever been written.
func FirstTables(models []*querydb.Model) []*driver.Table {
	list := []*driver.Table{querydb.NotesTable()}
	for _, m := range models {
		list = append(list, m.DriverTable(0))
	}
	return list
}
