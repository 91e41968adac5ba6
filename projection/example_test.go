package projection_test

import (
	"context"
	"fmt"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	events "github.com/foldql/foldql/internal/shop/event"
	"github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/internal/shop/projection/ops"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// counter is a projector: what becomes of a row follows from the event and from the row as it was.
type counter struct{}

func (counter) OrderPlaced(e events.OrderPlaced, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.OrderCount.Upsert(querydb.SingletonKey{}, model.OrderCount{}, func(row *model.OrderCount) {
		row.Orders++
		row.Revenue += e.Total
	})}
}

// A Runner folds the events of a source into rows. One that cannot be folded becomes a dead letter, and the others go
// on.
func ExampleRunner() {
	ctx := context.Background()
	db, err := querydb.Open(ctx, memstore.New(), []*querydb.Model{model.OrderCountModel}, querydb.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	log := memlog.New(memlog.Options{})
	defer log.Close()
	order := func(id, total string) eventlog.Event {
		return eventlog.Event{ID: id, Source: "/shop", Type: "OrderPlaced", Subject: "order-" + id,
			Data: []byte(`{"orderId": "` + id + `",
			"customerId": "ada", "customerGroup": "retail", "status": "placed", "total": ` + total + `,
			"placedAt": "2024-01-15T10:30:00Z", "lines": []}`)}
	}
	if _, err := log.Append(ctx, []eventlog.Event{order("1", "10.5"), order("2", `"ten"`), order("3", "20")}); err != nil {
		fmt.Println(err)
		return
	}
	log.End()

	runner, err := projection.NewRunner(ops.ProjectOrderCount(counter{}), log, db, projection.RunnerConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := runner.Run(ctx); err != nil {
		fmt.Println(err)
		return
	}
	rows, err := db.Get(ctx, model.OrderCountModel, []keys.Key{{PK: keys.SingletonPK}}, true)
	if err != nil {
		fmt.Println(err)
		return
	}
	var row model.OrderCount
	fmt.Println(model.OrderCountCodec.Decode(rows[0].Record, &row), row)
	letters, err := runner.DeadLetters(ctx, "", 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range letters {
		fmt.Println(e.Ref, e.Reason)
	}
	// Output:
	// <nil> {2 30.5}
	// 0@2 field total: want Float, got string
}
