package dynamostore

import (
	"testing"

	"github.com/foldql/foldql/internal/tests/dynamotest"
	"github.com/foldql/foldql/querydb/driver"
)

func TestGenerationsOfTables(t *testing.T) {
	for name, want := range map[string]bool{
		"p-Account": true, "p-Account.g1": true, "p-Account.g12": true, "p-Account.g": false, "p-Account.gx": false,
		"p-Accounts": false, "Account": false, "p-foldql": false, "p-Account.g1x": false,
	} {
		if got := isGeneration(name, "p-", []*driver.Table{dynamotest.Account}); got != want {
			t.Errorf("%s is a table of rows: %t, want %t", name, got, want)
		}
	}
}
