package dynamolocal

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
)

// Endpoint is a place of a test's own at an engine: no other test sees the tables that it makes.
type Endpoint struct {
	Engine    Engine
	URL       string
	AccessKey string // DynamoDB Local keeps the tables of each access key apart
	Prefix    string // for the names of tables, because dynoxide does not
}

// Start returns a place at the engine that the tests of this process share; the first to ask starts it, and it ends
// with the process. Where the test fails, the engine's log is printed.
func Start(t testing.TB, e Engine) Endpoint {
	t.Helper()
	p, err := shared(e)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s printed:\n%s", e, p.Log())
		}
	})
	n := places.Add(1)
	return Endpoint{
		Engine: e, URL: p.URL,
		AccessKey: fmt.Sprintf("KEY%08X%d", process, n),
		Prefix:    fmt.Sprintf("t%08x-%d.", process, n),
	}
}

var (
	process = rand.Uint32() // tells the places of processes apart that share an engine
	places  atomic.Int64
	engines = map[Engine]func() (*Process, error){Local: once(Local), Dynoxide: once(Dynoxide)}
)

func shared(e Engine) (*Process, error) {
	start, known := engines[e]
	if !known {
		return nil, fmt.Errorf("dynamolocal: there is no engine %q", e)
	}
	return start()
}

func once(e Engine) func() (*Process, error) {
	return sync.OnceValues(func() (*Process, error) { return Run(context.Background(), Options{Engine: e}) })
}

// Env are the variables of the environment by which AWS's libraries find the place, and nothing else.
func (p Endpoint) Env() []string {
	var list []string
	for _, v := range p.variables() {
		list = append(list, v[0]+"="+v[1])
	}
	return list
}

// Setenv sets those variables for the time of the test.
func (p Endpoint) Setenv(t testing.TB) {
	t.Helper()
	for _, v := range p.variables() {
		t.Setenv(v[0], v[1])
	}
}

func (p Endpoint) variables() [][2]string {
	return [][2]string{
		{"AWS_ENDPOINT_URL_DYNAMODB", p.URL},
		{"AWS_REGION", "us-east-1"},
		{"AWS_ACCESS_KEY_ID", p.AccessKey},
		{"AWS_SECRET_ACCESS_KEY", "secret"},
		{"AWS_SESSION_TOKEN", ""},
		{"AWS_PROFILE", ""},
		{"AWS_CONFIG_FILE", "/dev/null"},
		{"AWS_SHARED_CREDENTIALS_FILE", "/dev/null"},
		{"AWS_EC2_METADATA_DISABLED", "true"},
	}
}
