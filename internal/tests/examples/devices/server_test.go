package devices

import (
	"encoding/json"
	"testing"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/internal/tests/exampleserver"
)

// project is the folder of the example, which is a module of its own.
const project = "../../../../examples/devices"

func TestMain(m *testing.M) { exampleserver.Main(m, project) }

// fleet is a server that runs, and the table behind it.
type fleet struct {
	*exampleserver.Server
	table string
}

func eachEngine(t *testing.T, test func(t *testing.T, f *fleet)) {
	for _, e := range dynamolocal.Engines() {
		t.Run(string(e), func(t *testing.T) {
			s := exampleserver.Start(t, e)
			test(t, &fleet{s, s.Prefix + "Fleet"})
		})
	}
}

// ask returns the data of the answer to a query, which has no errors.
func (f *fleet) ask(t *testing.T, query string) (data any) {
	t.Helper()
	if err := json.Unmarshal([]byte(f.Ask(t, query)), &data); err != nil {
		t.Fatal(err)
	}
	return data
}
