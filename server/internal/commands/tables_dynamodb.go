package commands

import (
	"context"
	"fmt"

	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/stores"
)

// tables are those of a store in DynamoDB, which need not be there yet.
type tables struct {
	*dynamostore.Store
	p *Program
}

func (c *tablesOptions) open(ctx context.Context, p *Program, at config.Store) (*tables, error) {
	if at.Kind != config.DynamoDB {
		return nil, config.Wrong("store", "%s keeps no tables; name those in DynamoDB, as dynamodb:PREFIX, or those of "+
			"embedded:DIR", at)
	}
	at.Dynamo.Log = p.Log
	drv, err := dynamostore.Open(ctx, at.Dynamo)
	if err != nil {
		return nil, fmt.Errorf("open the store %s: %w", at, err)
	}
	return &tables{Store: drv, p: p}, nil
}

// db opens the rows and notes that the tables hold.
func (s *tables) db(ctx context.Context) (*querydb.DB, error) {
	return querydb.Open(ctx, s.Store, s.p.Models, querydb.Config{Logger: s.p.Log})
}

// survey reads which tables are needed, and which are not any more.
func (s *tables) survey(ctx context.Context) (known dynamostore.Tables, err error) {
	there, err := s.Exists(ctx, querydb.NotesTable())
	if err != nil {
		return known, err
	}
	if !there {
		return dynamostore.Tables{Needed: stores.FirstTables(s.p.Models)}, nil
	}
	db, err := s.db(ctx)
	if err != nil {
		return known, err
	}
	if known.Needed, err = stores.NeededTables(ctx, db, s.p.Models, s.p.Projections); err != nil {
		return known, err
	}
	known.Former, err = db.Tables().Former(ctx)
	return known, err
}

// recordDropped notes that the tables of former generations are removed.
func (s *tables) recordDropped(ctx context.Context, former []*driver.Table) error {
	db, err := s.db(ctx)
	if err != nil {
		return err
	}
	for _, t := range former {
		if err := db.Tables().RecordDropped(ctx, t); err != nil {
			return err
		}
	}
	return nil
}
