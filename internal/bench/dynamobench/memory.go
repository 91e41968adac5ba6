package dynamobench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/foldql/foldql/internal/bench/measurement"
	"github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/internal/shop/projection/ops"
	"github.com/foldql/foldql/internal/shop/projection/projectors"
	"github.com/foldql/foldql/internal/shop/sample"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

// repriced is how many products there are: each window changes all of them.
const repriced = 200

// flatMemory folds many events into few rows in DynamoDB Local, and prints what memory the fold holds on its way.
func (e *engine) flatMemory(ctx context.Context, out io.Writer, events int) (err error) {
	db, err := e.newAccount().open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	fmt.Fprintf(out, "memory of a fold of %d events into %d rows:\n", events, repriced)
	began := time.Now()
	marks := []int{10, 50, 100}
	source := &repricings{products: repriced, events: events, reached: func(offset uint64) error {
		if len(marks) == 0 || offset*100 < uint64(events*marks[0]) {
			return nil
		}
		held, err := measurement.MeasureMemory()
		fmt.Fprintf(out, "  at %3d %%: heap %.1f MB, resident %.1f MB, after %.0f s\n", marks[0], held.HeapMB,
			held.ResidentMB, time.Since(began).Seconds())
		marks = marks[1:]
		return err
	}}
	if err := foldInto(ctx, db, source, []projection.Projection{ops.ProjectProduct(projectors.Product{})}); err != nil {
		return err
	}
	rows, err := countProducts(ctx, db)
	if err == nil && (rows != repriced || len(marks) > 0) {
		err = fmt.Errorf("the fold ended before %v %% of the events, with %d rows of %d", marks, rows, repriced)
	}
	return err
}

// countProducts counts the rows that the fold has left.
func countProducts(ctx context.Context, db *querydb.DB) (rows int, err error) {
	ids := make([]keys.Key, repriced)
	for i := range ids {
		ids[i].PK = sample.ProductID(i)
	}
	products, err := db.Get(ctx, model.ProductModel, ids, true)
	for _, p := range products {
		if p.Record != nil {
			rows++
		}
	}
	return rows, err
}
