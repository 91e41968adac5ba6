package crash

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"

	"github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/internal/shop/sample"
	ledgermodel "github.com/foldql/foldql/internal/tests/crash/ledger/model"
	"github.com/foldql/foldql/querydb"
)

// ask is a question for rows, and of which partition of the table they are, "" for an index.
type ask struct {
	model, projector string
	query            string
	partition        string
	one              bool   // the answer is a row, or null
	id               string // of a row that a plain fold knows; else ""
}

// oneOf asks for a row, with all that is stored of it.
func oneOf(model, id, fields string) ask {
	return ask{model, model, fmt.Sprintf("{ r: %s(id: %q, consistent: true) { %s } }", model, id, fields), id, true, ""}
}

// allOf asks for the rows of a partition.
func allOf(model, id, fields string) ask {
	return ask{model, model, fmt.Sprintf("{ r: %sById(id: %q, limit: 1000, consistent: true) { items { %s } } }", model,
		id, fields), id, false, ""}
}

// found asks for the rows that an index has under a value.
func found(model, index, argument, value, fields string) ask {
	return ask{model, model, fmt.Sprintf("{ r: %s%s(%s: %q, limit: 1000) { items { %s } } }", model, index, argument,
		value, fields), "", false, ""}
}

func fieldsOf(m *querydb.Model) string {
	var b strings.Builder
	for _, f := range m.Fields {
		b.WriteString(" " + f.Name)
	}
	return b.String()
}

// ledgerAsks draws a question about the ledger.
func ledgerAsks(rng *rand.Rand, _ []string) ask {
	if rng.IntN(2) == 0 {
		return copiedAsks(rng)
	}
	account := fmt.Sprint("a", rng.IntN(8))
	switch rng.IntN(5) {
	case 0:
		return oneOf("Balance", account, fieldsOf(ledgermodel.BalanceModel))
	case 1:
		return oneOf("Profile", account, fieldsOf(ledgermodel.ProfileModel))
	case 2:
		return oneOf("Currency", []string{"EUR", "SEK", "USD"}[rng.IntN(3)], fieldsOf(ledgermodel.CurrencyModel))
	case 3:
		return allOf("Entry", account, fieldsOf(ledgermodel.EntryModel))
	}
	return found("Balance", "ByOwner", "owner", []string{"Ada", "Bo"}[rng.IntN(2)], fieldsOf(ledgermodel.BalanceModel))
}

// shopAsks draws a question about the shop.
func shopAsks(rng *rand.Rand, _ []string) ask {
	order := sample.OrderID(rng.IntN(20))
	switch rng.IntN(5) {
	case 0:
		return oneOf("Customer", sample.CustomerID(rng.IntN(8)), fieldsOf(model.CustomerModel))
	case 1:
		return oneOf("Order", order, fieldsOf(model.OrderModel))
	case 2:
		return allOf("OrderVersion", order, fieldsOf(model.OrderVersionModel))
	case 3:
		return allOf("OrderHistory", order, fieldsOf(model.OrderHistoryModel))
	}
	return found("OrderTracking", "ByStatus", "status", []string{"placed", "paid", "shipped"}[rng.IntN(3)],
		fieldsOf(model.OrderTrackingModel))
}

// plainName is the name of a package that is a key as it is.
var plainName = regexp.MustCompile(`^[a-z0-9-]+$`)

// registryAsks draws a question about a package of one of the events. The fields are those of its schema that are
// stored.
func registryAsks(rng *rand.Rand, lines []string) ask {
	name := "none"
	var e struct{ Data struct{ Package string } }
	if len(lines) > 0 && json.Unmarshal([]byte(lines[rng.IntN(len(lines))]), &e) == nil &&
		plainName.MatchString(e.Data.Package) {
		name = e.Data.Package
	}
	if rng.IntN(2) == 0 {
		return oneOf("Package", name, "name createdAt latestVersion latestOrder latestAt license releases deprecated "+
			"deprecatedVersions")
	}
	return allOf("Version", name, "package order version publishedAt license nodeEngine dependencies deprecated")
}
