package data_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/data"
)

// TestCheckNamesFieldsThatAreNotDeclared, each once, in whatever declared object they are.
func TestCheckNamesFieldsThatAreNotDeclared(t *testing.T) {
	const text = `{"orderId":"o","n\u006fte":"n","notte":"x","notte2":{"deep":1},"remark":"was its name",
		"lines":[{"sku":"a","cuont":2},{"sku":"b","cuont":3,"x":null}]}`
	got, err := data.Check([]byte(text), readEvolved)
	if diff := cmp.Diff([]string{"notte", "notte2", "lines[].cuont", "lines[].x"}, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	if got, err := data.Check([]byte(`{"orderId":"o"}`), readEvolved); got != nil || err != nil {
		t.Errorf("of data with declared fields alone: %q, error %v", got, err)
	}
	if got, err := data.Check([]byte(`{"x":1}`), readEvolved); got != nil || err == nil {
		t.Errorf("of data that do not fit: %q, error %v", got, err)
	}
}

func TestCheckNamesFewFieldsAndCutsThem(t *testing.T) {
	var text strings.Builder
	text.WriteString(`{"orderId":"o"`)
	for i := range 100 {
		fmt.Fprintf(&text, `,"%d%s":1`, i, strings.Repeat("x", 1000))
	}
	text.WriteString("}")
	got, err := data.Check([]byte(text.String()), readEvolved)
	if err != nil || len(got) != eventlog.MaxUndeclared || len(got[0]) > 100 {
		t.Errorf("%d fields, the first of %d bytes, error %v", len(got), len(got[0]), err)
	}
}
