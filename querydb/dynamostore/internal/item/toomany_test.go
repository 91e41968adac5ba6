package item

import (
	"fmt"
	"strings"
	"testing"

	"github.com/foldql/foldql/querydb/driver"
)

func TestATableOfTooManyFieldsIsRefusedWhenItIsFirstSeen(t *testing.T) {
	table := func(n int) *driver.Table {
		t := &driver.Table{Name: "Wide"}
		for i := range n {
			t.Fields = append(t.Fields, driver.Field{Name: fmt.Sprintf("f%d", i), Scalar: "Int"})
		}
		return t
	}
	if _, err := NewCodec("", table(480)); err != nil {
		t.Errorf("480 fields: %v", err)
	}
	_, err := NewCodec("", table(600))
	if err == nil || !strings.Contains(err.Error(), "table Wide have 605 attributes") {
		t.Errorf("600 fields: %v", err)
	}
}
