package graph

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/foldql/foldql/querydb/memstore"
)

// TestTokensDoNotTellHowLongTheKeysOfRowsOfOthersAre: a short page may end at one of these.
func TestTokensDoNotTellHowLongTheKeysOfRowsOfOthersAre(t *testing.T) {
	const query = `{ InvoiceByOwnerId(ownerId: "acc", partial: true, filter: {amount: {exists: true}}, nextToken: %s) {
		items { amount } nextToken } }`
	lengths := map[int]bool{}
	for id := 5; id <= 15; id++ {
		c, sdl := filteredInvoices()
		b := newBenchOf(t, c, sdl, Config{MaxHidden: 100}, memstore.New())
		b.put(t, "Ownership", row{"ownerId": "acc", "subject": "ann"})
		for i := range 150 {
			b.put(t, "Invoice", row{"invoiceId": fmt.Sprintf("a%0*d", id-1, i), "ownerId": "acc", "subject": "bob", "amount": 0})
		}
		b.put(t, "Invoice", row{"invoiceId": "b", "ownerId": "acc", "subject": "ann", "amount": 7})
		got := wantAmounts(t, b, fmt.Sprintf(query, "null"), "")
		token, more := got.Data.(map[string]any)["InvoiceByOwnerId"].(map[string]any)["nextToken"].(string)
		if !more {
			t.Fatalf("no page follows: %v", got)
		}
		lengths[len(token)] = true
		wantAmounts(t, b, fmt.Sprintf(query, strconv.Quote(token)), "amount:7")
	}
	if len(lengths) != 1 {
		t.Errorf("tokens of rows with ids of 5 to 15 characters have these lengths: %v", lengths)
	}
}
