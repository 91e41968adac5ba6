package graph_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/foldql/foldql/graph"
	"github.com/foldql/foldql/graph/graphqlhttp"
	"github.com/foldql/foldql/internal/shop/graph/generated"
	"github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/record"
)

// The generated API of a project, over any store of its rows, as a handler.
func ExampleWithCompiledPlans() {
	ctx := context.Background()
	db, err := querydb.Open(ctx, memstore.New(), model.All, querydb.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	var b record.Builder
	row, err := querydb.Encode(model.CustomerCodec, &b, &model.Customer{
		CustomerID: "ada", Name: "Ada", Email: "ada@example.com", Group: "retail",
		RegisteredAt: time.Date(2024, 1, 15, 10, 30, 0, 0, time.UTC),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	write := querydb.Write{Model: model.CustomerModel, Row: row}
	if err := db.Apply(ctx, querydb.Batch{Writes: []querydb.Write{write}}); err != nil {
		fmt.Println(err)
		return
	}

	runtime := graph.NewRuntime(db, generated.Catalog, graph.Config{AuthOff: true})
	api := graphqlhttp.New(graph.WithCompiledPlans(generated.New(runtime), runtime), graphqlhttp.Config{})
	r := httptest.NewRequest("POST", "/graphql",
		strings.NewReader(`{"query": "{ Sales_Customer(id: \"ada\") { name registeredAt } }"}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	api.ServeHTTP(w, r)
	fmt.Println(w.Body)
	// Output:
	// {"data":{"Sales_Customer":{"name":"Ada","registeredAt":"2024-01-15T10:30:00.000Z"}}}
}
