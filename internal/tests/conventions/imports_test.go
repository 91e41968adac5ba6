// Package conventions tests the conventions of this repository that the compiler does not know.
package conventions

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/foldql/foldql"

// rule says what a package may import: of this module, and of others beside the standard library. A name that ends in
// "..." stands for all that begin so.
type rule struct{ own, outside []string }

// rules has one for each package; a change of direction is a change of this table. Which library a package hides, and
// that nothing which runs parses SDL, is what is listed outside.
var rules = map[string]rule{
	"keys":                   {own: []string{"keys/internal/encoding"}},
	"keys/internal/encoding": {},
	"querydb/record":         {own: []string{"keys", "internal/codeunit"}},
	"querydb/driver":         {own: []string{"keys", "querydb/record"}},
	"internal/parallel":      {},
	"internal/distinct":      {own: []string{"keys"}},
	"querydb/aggregate": {[]string{"keys", "querydb/driver", "querydb/record"},
		[]string{"github.com/cespare/xxhash/v2"}},
	"querydb": {own: []string{"keys", "querydb/aggregate", "querydb/driver", "querydb/record",
		"querydb/internal/background",
		"querydb/internal/counter", "querydb/internal/former", "querydb/internal/generation",
		"querydb/internal/notetable", "querydb/internal/page", "querydb/internal/validate"}},
	"querydb/internal/background": {},
	"querydb/internal/counter":    {own: []string{"querydb/driver"}},
	"querydb/internal/former":     {own: []string{"querydb/driver", "querydb/record"}},
	"querydb/internal/generation": {own: []string{"keys", "querydb/driver", "querydb/internal/notetable"}},
	"querydb/internal/notetable":  {own: []string{"querydb/driver", "querydb/record"}},
	"querydb/internal/page": {[]string{"keys", "querydb/aggregate", "querydb/driver", "querydb/record",
		"querydb/internal/counter", "internal/backoff", "internal/distinct", "internal/parallel"},
		[]string{"golang.org/x/sync/semaphore"}},
	"querydb/internal/validate": {own: []string{"keys", "querydb/driver", "querydb/record"}},
	"querydb/drivertest": {own: []string{"keys", "querydb/driver", "querydb/record",
		"querydb/drivertest/internal/..."}},
	"querydb/drivertest/internal/fixture": {own: []string{"keys", "querydb/driver", "querydb/record"}},
	"querydb/drivertest/internal/harness": {[]string{"keys", "querydb/driver", "querydb/record",
		"querydb/drivertest/internal/fixture"}, []string{"github.com/google/go-cmp/cmp"}},
	"querydb/drivertest/internal/reference": {own: []string{"keys", "querydb/driver", "querydb/record",
		"querydb/drivertest/internal/fixture", "querydb/drivertest/internal/harness"}},
	"querydb/drivertest/internal/reads": {own: []string{"keys", "querydb/driver", "querydb/record",
		"querydb/drivertest/internal/fixture", "querydb/drivertest/internal/harness",
		"querydb/drivertest/internal/reference"}},
	"querydb/drivertest/internal/writes": {own: []string{"keys", "querydb/driver",
		"querydb/drivertest/internal/fixture", "querydb/drivertest/internal/harness",
		"querydb/drivertest/internal/reference"}},
	"querydb/drivertest/internal/lifecycle": {own: []string{"keys", "querydb/driver",
		"querydb/drivertest/internal/fixture", "querydb/drivertest/internal/harness"}},
	"querydb/drivertest/internal/multiwriter": {own: []string{"keys", "querydb/driver", "querydb/record",
		"querydb/drivertest/internal/fixture", "querydb/drivertest/internal/harness"}},
	"querydb/drivertest/internal/sharedtable": {own: []string{"keys", "querydb/driver",
		"querydb/drivertest/internal/fixture", "querydb/drivertest/internal/harness",
		"querydb/drivertest/internal/reference"}},
	"querydb/drivertest/internal/randomops": {[]string{"keys", "querydb/driver",
		"querydb/drivertest/internal/fixture", "querydb/drivertest/internal/harness",
		"querydb/drivertest/internal/reference"}, []string{"pgregory.net/rapid"}},
	"querydb/memstore": {own: []string{"keys", "querydb/driver", "querydb/record"}},
	"querydb/pebblestore": {[]string{"keys", "querydb/driver", "querydb/record", "internal/disk",
		"querydb/pebblestore/internal/changes"},
		[]string{pebble, "github.com/maypok86/otter/v2"}},
	"querydb/pebblestore/internal/changes": {},
	"querydb/dynamostore": {[]string{"keys", "querydb/driver", "internal/backoff", "querydb/dynamostore/internal/client",
		"querydb/dynamostore/internal/item", "querydb/dynamostore/internal/layout",
		"querydb/dynamostore/internal/read", "querydb/dynamostore/internal/rowcache",
		"querydb/dynamostore/internal/write"},
		[]string{aws + "/aws", aws + "/service/...", "github.com/aws/smithy-go"}},
	"querydb/dynamostore/internal/client": {[]string{"querydb/driver", "internal/backoff"},
		[]string{aws + "/...", "github.com/aws/smithy-go..."}},
	"querydb/dynamostore/internal/layout": {[]string{"keys", "querydb/driver"}, []string{aws + "/service/..."}},
	"querydb/dynamostore/internal/item": {[]string{"keys", "querydb/driver", "querydb/record",
		"querydb/dynamostore/internal/layout"}, []string{aws + "/service/..."}},
	"querydb/dynamostore/internal/read": {[]string{"keys", "querydb/driver", "querydb/dynamostore/internal/client",
		"querydb/dynamostore/internal/item",
		"querydb/dynamostore/internal/layout"}, []string{aws + "/aws", aws + "/service/..."}},
	"querydb/dynamostore/internal/rowcache": {[]string{"keys", "querydb/driver", "internal/parallel"},
		[]string{"github.com/maypok86/otter/v2"}},
	"querydb/dynamostore/internal/write": {[]string{"keys", "querydb/driver", "internal/backoff",
		"querydb/dynamostore/internal/client", "querydb/dynamostore/internal/item",
		"querydb/dynamostore/internal/layout", "querydb/dynamostore/internal/read"},
		[]string{aws + "/aws", aws + "/service/..."}},
	"auth":                      {outside: []string{"github.com/MicahParks/jwkset", "github.com/golang-jwt/jwt/v5"}},
	"eventlog":                  {},
	"eventlog/internal/admit":   {own: []string{"eventlog"}},
	"eventlog/internal/certs":   {},
	"eventlog/internal/diskerr": {own: []string{"eventlog", "internal/disk"}},
	"eventlog/internal/frame":   {own: []string{"eventlog"}},
	"eventlog/internal/scan":    {own: []string{"internal/codeunit"}},
	"internal/codeunit":         {},
	"internal/unreadable":       {outside: []string{gqlparser + "/ast", gqlparser + "/lexer"}},
	"eventlog/cloudevents":      {own: []string{"keys", "eventlog", "eventlog/internal/scan"}},
	"eventlog/data": {[]string{"keys", "eventlog", "eventlog/internal/scan"},
		[]string{"github.com/agnivade/levenshtein"}},
	"eventlog/embeddedlog": {[]string{"eventlog", "eventlog/internal/admit", "eventlog/internal/diskerr",
		"eventlog/internal/frame", "internal/disk"}, []string{pebble}},
	"eventlog/filesource": {own: []string{"eventlog", "eventlog/cloudevents", "eventlog/internal/scan",
		"eventlog/payload"}},
	"eventlog/httpsource": {own: []string{"eventlog", "eventlog/cloudevents", "eventlog/internal/certs",
		"internal/backoff", "internal/slowclient"}},
	"eventlog/mirror": {[]string{"eventlog", "eventlog/internal/diskerr", "eventlog/internal/frame", "internal/backoff",
		"internal/disk"}, []string{pebble}},
	"eventlog/natssource": {[]string{"eventlog", "eventlog/cloudevents", "eventlog/internal/certs", "eventlog/payload"},
		[]string{"github.com/nats-io/nats.go",
			"github.com/nats-io/nats.go/jetstream"}},
	"eventlog/ingest": {[]string{"eventlog", "eventlog/cloudevents"}, []string{"github.com/agnivade/levenshtein"}},
	"eventlog/memlog": {own: []string{"eventlog", "eventlog/internal/admit"}},
	"eventlog/payload": {[]string{"eventlog", "eventlog/cloudevents", "eventlog/internal/scan"},
		[]string{"github.com/goccy/go-yaml"}},
	"eventlog/shared":     {own: []string{"eventlog"}},
	"eventlog/sourcetest": {[]string{"eventlog"}, []string{"github.com/google/go-cmp/cmp"}},
	"projection": {own: []string{"keys", "querydb", "querydb/aggregate", "eventlog", "projection/internal/...",
		"projection/sourcehash"}},
	"projection/sourcehash": {},
	"projection/projectiontest": {[]string{"keys", "querydb", "querydb/driver", "querydb/memstore",
		"eventlog", "eventlog/memlog", "projection"}, []string{"github.com/google/go-cmp/cmp..."}},
	// The engine of projections: who is above may import who is below.
	"projection/internal/delivery": {own: []string{"eventlog", "keys", "querydb", "querydb/driver", "internal/backoff",
		"internal/recurring", "projection/internal/checkpoint",
		"projection/internal/cascade", "projection/internal/deadletter", "projection/internal/fold",
		"projection/internal/loglimit", "projection/internal/pace", "projection/internal/position",
		"projection/internal/upstream", "projection/internal/usercode", "projection/rates"}},
	"projection/rates": {own: []string{"querydb"}},
	"projection/internal/upstream": {own: []string{"eventlog", "projection/internal/checkpoint",
		"projection/internal/deadletter", "projection/internal/position"}},
	"projection/internal/checkpoint": {own: []string{"eventlog", "keys", "querydb", "querydb/record",
		"projection/internal/cascade", "projection/internal/deadletter", "projection/internal/enums",
		"projection/internal/position"}},
	"projection/internal/enums":   {own: []string{"querydb"}},
	"projection/internal/cascade": {own: []string{"keys", "querydb"}},
	"projection/internal/deadletter": {own: []string{"eventlog", "keys", "querydb", "querydb/aggregate",
		"projection/internal/position"}},
	"projection/internal/fold": {own: []string{"keys", "querydb", "querydb/aggregate", "querydb/driver", "querydb/record",
		"projection/internal/cascade", "projection/internal/recopy",
		"projection/internal/usercode"}},
	"projection/internal/loglimit": {},
	"projection/internal/pace":     {[]string{"internal/backoff"}, []string{"golang.org/x/sync/semaphore"}},
	"projection/internal/recopy":   {own: []string{"querydb", "querydb/record"}},
	"projection/internal/position": {own: []string{"eventlog", "querydb"}},
	"projection/internal/usercode": {own: []string{"eventlog"}},

	"graph": {[]string{"keys", "querydb", "querydb/record", "graph/catalog", "graph/graphqlerr", "graph/scalar",
		"graph/internal/access", "graph/internal/allowance", "graph/internal/answercache", "graph/internal/asked",
		"graph/internal/read", "graph/internal/plan", "graph/internal/execute", "graph/internal/explain",
		"graph/internal/resolve"}, []string{gqlgen, gqlparser + "/ast"}},
	"graph/catalog": {own: []string{"keys", "querydb"}},
	"graph/fieldexec": {[]string{"graph/internal/argument", "graph/scalar"}, []string{gqlgen, gqlgen + "/introspection",
		gqlparser + "/ast", gqlparser + "/gqlerror"}},
	"graph/scalar": {[]string{"keys", "graph/graphqlerr"}, []string{gqlgen}},
	"graph/internal/access": {own: []string{"keys", "querydb", "querydb/driver", "querydb/record", "auth",
		"graph/catalog", "graph/graphqlerr"}},
	"graph/internal/read": {[]string{"keys", "querydb", "querydb/aggregate", "querydb/driver", "querydb/record",
		"graph/catalog",
		"graph/graphqlerr", "graph/internal/access", "graph/internal/allowance", "graph/internal/filter",
		"graph/internal/requestlog", "internal/parallel", "internal/queryarg"},
		[]string{gqlparser + "/gqlerror"}},
	"graph/internal/allowance":  {own: []string{"querydb", "querydb/driver"}},
	"graph/internal/requestlog": {},
	"graph/internal/docsize":    {outside: []string{gqlparser + "/ast"}},
	"graph/internal/argument":   {outside: []string{gqlparser + "/ast", gqlparser + "/gqlerror"}},
	"graph/internal/plan": {[]string{"keys", "graph/catalog", "graph/graphqlerr", "graph/scalar", "graph/internal/access",
		"graph/internal/argument", "graph/internal/docsize", "graph/internal/read", "internal/queryarg"}, []string{gqlgen,
		gqlparser + "/ast"}},
	"graph/internal/filter": {[]string{"keys", "querydb", "querydb/record", "graph/catalog", "graph/graphqlerr",
		"graph/scalar", "internal/queryarg"}, []string{gqlgen}},
	"graph/internal/explain": {[]string{"graph/catalog", "graph/internal/filter", "graph/internal/plan",
		"graph/internal/read", "keys", "querydb", "querydb/driver"}, []string{gqlparser + "/ast"}},
	"graph/internal/asked": {outside: []string{gqlparser + "/ast"}},
	"graph/internal/answercache": {[]string{"querydb", "querydb/driver", "graph/internal/access", "graph/internal/asked"},
		[]string{gqlgen, gqlparser + "/ast"}},
	"graph/internal/execute": {[]string{"graph/catalog", "querydb/driver", "querydb/record", "graph/graphqlerr",
		"graph/internal/access", "graph/internal/argument", "graph/internal/plan", "graph/internal/read",
		"internal/distinct", "internal/parallel"}, []string{gqlgen, gqlparser + "/ast", gqlparser + "/gqlerror"}},
	"graph/internal/resolve": {[]string{"keys", "querydb/record", "graph/catalog", "graph/internal/access",
		"graph/internal/execute",
		"graph/internal/plan", "graph/internal/read"}, []string{gqlgen, "github.com/graph-gophers/dataloader/v7",
		gqlparser + "/ast"}},
	"graph/internal/introspection": {outside: []string{gqlparser + "/ast", gqlparser + "/parser", gqlparser +
		"/validator/core"}},
	"graph/graphqlerr": {outside: []string{gqlparser + "/gqlerror"}},
	"graph/trusted":    {},
	"graph/graphqlhttp/internal/compressed": {outside: []string{"github.com/klauspost/compress/gzhttp",
		"github.com/klauspost/compress/gzip"}},
	"graph/graphqlhttp/internal/plainjson": {},
	"graph/graphqlhttp/internal/timelimit": {},
	"graph/graphqlhttp": {[]string{"graph/graphqlerr", "graph/graphqlhttp/internal/compressed",
		"graph/graphqlhttp/internal/plainjson", "graph/graphqlhttp/internal/timelimit", "graph/internal/asked",
		"graph/internal/docsize",
		"graph/internal/introspection", "graph/internal/requestlog", "graph/trusted", "internal/slowclient",
		"internal/unreadable", "querydb/driver"}, []string{gqlgen, gqlgen + "/executor", gqlgen + "/handler/extension",
		"github.com/mailru/easyjson/jlexer", gqlparser + "/ast", gqlparser + "/gqlerror", gqlparser + "/lexer", gqlparser +
			"/parser", gqlparser + "/validator..."}},
	"graph/playground": {},
	"server": {[]string{"..."}, []string{gqlgen, "github.com/alecthomas/kong",
		"github.com/prometheus/client_golang/prometheus"}},
	"server/internal/access": {own: []string{"auth", "internal/localrequest", "server/internal/problem"}},
	"internal/localrequest":  {},
	"internal/slowclient":    {},
	"internal/brokenpipe":    {},
	"internal/recurring":     {},
	"server/internal/plural": {},
	"server/internal/backup": {own: []string{"internal/disk"}},
	"server/internal/admin": {own: []string{"eventlog", "internal/disk", "projection", "server/internal/backup",
		"server/internal/config", "server/internal/logcheck", "server/internal/problem",
		"server/internal/projections", "server/internal/search", "server/internal/verify"}},
	"server/internal/advice": {own: []string{"querydb", "querydb/driver"}},
	"server/internal/client": {own: []string{"server/internal/config"}},
	"server/internal/nextstart": {own: []string{"projection", "projection/rates", "querydb",
		"server/internal/projections"}},
	"server/internal/commands": {own: []string{"eventlog", "eventlog/embeddedlog", "eventlog/mirror", "projection",
		"projection/rates", "querydb", "querydb/driver", "querydb/dynamostore", "server/internal/admin",
		"server/internal/backup", "server/internal/client", "server/internal/config", "server/internal/logcheck",
		"server/internal/nextstart", "server/internal/plural", "server/internal/problem",
		"server/internal/progress", "server/internal/projections", "server/internal/search", "server/internal/sources",
		"server/internal/stores", "server/internal/upload", "server/internal/verify"}},
	"server/internal/commands/events": {own: []string{"eventlog", "eventlog/ingest", "internal/disk", "keys",
		"server/internal/admin", "server/internal/client", "server/internal/commands", "server/internal/config",
		"server/internal/logcheck", "server/internal/plural", "server/internal/progress", "server/internal/search",
		"server/internal/upload"}},
	"server/internal/config": {[]string{"auth", "eventlog/payload", "graph/graphqlhttp", "projection", "querydb",
		"querydb/dynamostore", "server/internal/memory"},
		[]string{"github.com/agnivade/levenshtein", "github.com/alecthomas/kong",
			"github.com/goccy/go-yaml..."}},
	"server/internal/health": {own: []string{"eventlog", "internal/backoff", "internal/recurring", "projection",
		"querydb/driver", "server/internal/access", "server/internal/problem", "server/internal/projections"}},
	"server/internal/limits": {own: []string{"graph/graphqlhttp", "internal/slowclient", "server/internal/problem"}},
	"server/internal/logcheck": {own: []string{"eventlog", "projection", "querydb", "server/internal/plural",
		"server/internal/sources", "server/internal/stores"}},
	"server/internal/memory": {},
	"server/internal/metrics": {[]string{"auth", "graph/graphqlerr", "graph/graphqlhttp", "projection", "querydb",
		"querydb/driver", "querydb/dynamostore", "server/internal/health", "server/internal/limits",
		"server/internal/projections"},
		[]string{gqlgen, "github.com/prometheus/client_golang/prometheus",
			"github.com/prometheus/client_golang/prometheus/collectors",
			"github.com/prometheus/client_golang/prometheus/promhttp", gqlparser + "/ast"}},
	"server/internal/middleware": {own: []string{"server/internal/problem"}},
	"server/internal/persisted": {[]string{"graph/graphqlhttp", "graph/trusted", "server/internal/config"},
		[]string{"github.com/prometheus/client_golang/prometheus"}},
	"server/internal/positions": {[]string{"eventlog", "eventlog/ingest", "graph/catalog", "graph/graphqlerr",
		"graph/graphqlhttp", "keys", "projection", "querydb", "querydb/driver", "server/internal/projections"},
		[]string{gqlgen, gqlparser + "/ast", gqlparser + "/gqlerror"}},
	"server/internal/problem": {own: []string{"graph/graphqlerr", "graph/graphqlhttp"}},
	"server/internal/progress": {[]string{"server/internal/plural"},
		[]string{"github.com/schollz/progressbar/v3", "golang.org/x/term"}},
	"server/internal/projections": {[]string{"eventlog", "eventlog/httpsource", "eventlog/shared", "internal/backoff",
		"internal/recurring", "projection", "querydb",
		"server/internal/advice", "server/internal/config", "server/internal/logcheck", "server/internal/plural"},
		[]string{"golang.org/x/sync/errgroup"}},
	"server/internal/search": {own: []string{"eventlog", "eventlog/cloudevents"}},
	"server/internal/sources": {own: []string{"eventlog", "eventlog/embeddedlog", "eventlog/filesource",
		"eventlog/httpsource",
		"eventlog/memlog", "eventlog/mirror", "eventlog/natssource", "server/internal/backup",
		"server/internal/config"}},
	"server/internal/stores": {own: []string{"keys", "projection", "querydb", "querydb/driver", "querydb/dynamostore",
		"querydb/memstore", "querydb/pebblestore", "server/internal/backup", "server/internal/config"}},
	"server/internal/upload": {own: []string{"eventlog", "eventlog/cloudevents", "eventlog/filesource",
		"eventlog/ingest", "server/internal/client", "server/internal/config", "server/internal/plural",
		"server/internal/progress", "server/internal/sources"}},
	"server/internal/verify": {own: []string{"eventlog", "eventlog/shared", "keys", "projection", "querydb",
		"querydb/driver", "querydb/pebblestore", "server/internal/sources"}},
	"cmd/server": {own: []string{"..."}},
	"cmd/foldql": {[]string{"..."}, []string{"github.com/alecthomas/kong", "golang.org/x/mod/...", "golang.org/x/term"}},
}

const (
	pebble    = "github.com/cockroachdb/pebble/v2..."
	gqlgen    = "github.com/99designs/gqlgen/graphql"
	gqlparser = "github.com/vektah/gqlparser/v2"
	aws       = "github.com/aws/aws-sdk-go-v2"
)

// unrestricted is the rule of internal packages: the generator, tools and tests.
var unrestricted = rule{[]string{"..."}, []string{"..."}}

// suites are imported by tests alone.
var suites = []string{"querydb/drivertest", "eventlog/sourcetest", "projection/projectiontest"}

// TestImportsFollowTheArchitecture keeps the two ways of the data apart, drivers thin, keys a leaf, and each
// library behind the package that is there for it.
func TestImportsFollowTheArchitecture(t *testing.T) {
	for pkg, imports := range imported(t) {
		for _, imp := range imports {
			if err := violation(pkg, imp); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestEveryRuleIsNeeded(t *testing.T) {
	all := imported(t)
	for pkg, r := range rules {
		imports, ok := all[pkg]
		if !ok {
			t.Errorf("there is no package %s, which the table of allowed imports lists", pkg)
		}
		for _, allowed := range slices.Concat(r.own, r.outside) {
			if !slices.ContainsFunc(imports, func(i string) bool {
				return matches(allowed, strings.TrimPrefix(i, module+"/"))
			}) {
				t.Errorf("package %s may import %s and does not: take that out of the table", pkg, allowed)
			}
		}
	}
}

func TestAViolationOfEachRuleIsFound(t *testing.T) {
	forbidden := map[string]string{
		"keys":                    "github.com/google/go-cmp/cmp", // the standard library alone
		"querydb":                 module + "/querydb/pebblestore",
		"querydb/pebblestore":     module + "/querydb/memstore", // drivers do not know each other
		"querydb/memstore":        "github.com/aws/aws-sdk-go-v2/aws",
		"cmd/server":              "github.com/cockroachdb/pebble/v2",
		"server/internal/sources": "github.com/nats-io/nats.go",
		"projection":              module + "/graph",
		"graph":                   module + "/projection",
		"graph/internal/read":     module + "/graph/internal/plan", // what reads knows no documents
		"graph/internal/plan":     module + "/graph/internal/execute",
		"graph/playground":        gqlparser + "/parser",
		"graph/graphqlhttp":       gqlparser,                       // which parses SDL
		"server":                  module + "/internal/shop/model", // the shop is an application
		"eventlog/memlog":         module + "/eventlog/sourcetest",
		"internal/bench":          module + "/querydb/drivertest",
		"cmd/foldql":              module + "/eventlog/sourcetest",
		"eventlog/filesource":     module + "/eventlog/embeddedlog",
		"eventlog/a-new-source":   module + "/eventlog",
		"querydb/dynamostore/new": "github.com/aws/smithy-go",
	}
	for pkg, imp := range forbidden {
		if violation(pkg, imp) == nil {
			t.Errorf("package %s may import %s", pkg, imp)
		}
	}
}

func TestWhatARuleAllowsIsNoViolation(t *testing.T) {
	allowed := map[string][]string{
		"keys":                {"fmt", "encoding/json"},
		"querydb/dynamostore": {"github.com/aws/smithy-go", aws + "/service/dynamodb", module + "/keys"},
		"querydb/pebblestore": {"github.com/cockroachdb/pebble/v2", "github.com/cockroachdb/pebble/v2/vfs"},
		"server":              {module + "/querydb/pebblestore", module + "/graph"},
		"internal/anything":   {module + "/server", gqlparser, "golang.org/x/mod/modfile"},
	}
	for pkg, imports := range allowed {
		for _, imp := range imports {
			if err := violation(pkg, imp); err != nil {
				t.Error(err)
			}
		}
	}
}

// violation is why a package must not import another, nil where it may.
func violation(pkg, imp string) error {
	r, ok := rules[pkg]
	if strings.HasPrefix(pkg, "internal/") {
		r, ok = unrestricted, true
	}
	own, ours := strings.CutPrefix(imp, module+"/")
	allowed := r.outside
	if ours {
		allowed = r.own
	}
	first, _, _ := strings.Cut(imp, "/")
	switch standard := !strings.Contains(first, "."); {
	case !ok:
		return fmt.Errorf("package %s is not in the table of allowed imports: add it there", pkg)
	case ours && slices.Contains(suites, own):
		return fmt.Errorf("package %s must not import %s: suites are for tests", pkg, own)
	case ours && inShop(own) && !inShop(pkg) && pkg != "cmd/server" && !strings.HasPrefix(pkg, "internal/"):
		return fmt.Errorf("package %s must not import %s: the shop is an application, and no part of the library", pkg, own)
	case standard, slices.ContainsFunc(allowed, func(p string) bool { return matches(p, own) }):
		return nil
	}
	return fmt.Errorf("package %s must not import %s", pkg, own)
}

// inShop reports whether a package is one of the application that this repository serves.
func inShop(pkg string) bool { return strings.HasPrefix(pkg, "internal/shop/") }

func matches(pattern, name string) bool {
	if begin, ok := strings.CutSuffix(pattern, "..."); ok {
		return strings.HasPrefix(name, begin)
	}
	return name == pattern
}

// imported returns what each package of this module imports, but for its tests.
func imported(t *testing.T) map[string][]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
	cmd.Dir = "../../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("list the packages of the module: %v", err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		all[strings.TrimPrefix(words[0], module+"/")] = words[1:]
	}
	return all
}
