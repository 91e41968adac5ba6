package data_test

import (
	"fmt"
	"testing"

	"github.com/foldql/foldql/eventlog/data"
)

// Former names and defaults as generated decoders have them.
var evolvedFields = []data.Field{
	{Name: "orderId", Required: true, Was: []string{"order", "id"}},
	{Name: "note", Was: []string{"remark"}},
	{Name: "lines", Default: []byte(`[{"sku":"a\"b"},{"sku":"c","count":2}]`)},
	{Name: "total", Default: []byte(`1.50`), Was: []string{"sum"}},
}

var evolvedLineFields = []data.Field{{Name: "sku", Required: true}, {Name: "count", Default: []byte(`1`)}}

func readEvolved(r *data.Reader) (text string) {
	var id, note, total string
	var lines []string
	for field := range r.Object(evolvedFields) {
		switch field {
		case 0:
			id = r.ID()
		case 1:
			note = r.String()
		case 2:
			lines = data.List(r, func(r *data.Reader) string {
				sku, count := "", 0
				for field := range r.Object(evolvedLineFields) {
					if field == 0 {
						sku = r.String()
					} else {
						count = r.Int()
					}
				}
				return fmt.Sprintf("%d x %s", count, sku)
			})
		case 3:
			total = string(r.Decimal())
		}
	}
	return fmt.Sprintf("%s|%s|%q|%s", id, note, lines, total)
}

func TestFormerNamesAndDefaultsAreRead(t *testing.T) {
	const lines = `["1 x a\"b" "2 x c"]`
	for _, c := range []struct{ text, want string }{
		{`{"orderId":"o"}`, `o||` + lines + `|1.5`},
		{`{"id":"o","remark":"r","sum":2}`, `o|r|` + lines + `|2`},
		{`{"total":3,"lines":[],"order":"o","note":"n"}`, `o|n|[]|3`},
		// The present name counts before former ones, and newer ones before older ones, wherever they stand.
		{`{"id":"1","order":"2","orderId":"3"}`, `3||` + lines + `|1.5`},
		{`{"orderId":"3","order":"2","id":"1"}`, `3||` + lines + `|1.5`},
		{`{"id":"1","order":"2"}`, `2||` + lines + `|1.5`},
		{`{"order":"2","id":["passed over"]}`, `2||` + lines + `|1.5`},
		// Null counts as absent.
		{`{"orderId":null,"id":"1","lines":null,"total":null,"sum":"7"}`, `1||` + lines + `|7`},
		{`{"orderId":"o","lines":[{"sku":"s","count":null}]}`, `o||["1 x s"]|1.5`},
	} {
		got, err := data.Decode([]byte(c.text), readEvolved)
		if err != nil || got != c.want {
			t.Errorf("%s: %s, error %v, want %s", c.text, got, err, c.want)
		}
	}
}

func TestFaultsOfRenamedFieldsNameWhatTheTextHas(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{}`, "field orderId: required, but missing"},
		{`{"orderId":null}`, "field orderId: required, got null"},
		{`{"id":null,"note":"n"}`, "field orderId: required, got null"},
		{`{"id":true}`, "field id: want ID, got boolean"},
		{`{"id":"1","id":"2"}`, "field id: given twice"},
		{`{"orderId":"1","id":"2","orderId":"3"}`, "field orderId: given twice"},
		{`{"orderId":"1","sum":"many"}`, `field sum: want Decimal, got "many"`},
		{`{"orderId":"1","lines":[{}]}`, "field lines[0].sku: required, but missing"},
		{`{"orderId":"1"} x`, "data: not JSON: want the end of the text, got 'x' at byte 16"},
	} {
		_, err := data.Decode([]byte(c.text), readEvolved)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
}
