package server

import (
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/metrics"
	"github.com/foldql/foldql/server/internal/persisted"
)

// operationsDoc is docs/operations.md, which this program is operated by.
func operationsDoc(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var described = regexp.MustCompile(`fqName: "(\w+)", help: "([^"]*)", .*variableLabels: {([\w,]*)}`)

// metricRow is the row of a metric in docs/operations.md.
func metricRow(t *testing.T, d *prometheus.Desc) (name, row string) {
	t.Helper()
	part := described.FindStringSubmatch(d.String())
	if part == nil {
		t.Fatalf("a description of an unknown form: %s", d)
	}
	name, help, labels := part[1], strings.TrimSuffix(part[2], "."), ""
	if part[3] != "" {
		labels = " `" + strings.ReplaceAll(part[3], ",", "`, `") + "`"
	}
	return name, fmt.Sprintf("| `%s` |%s | %s |\n", name, labels, strings.ToLower(help[:1])+help[1:])
}

// TestEveryMetricIsDescribed: docs/operations.md has a row with the labels and the meaning of each, and names no other.
func TestEveryMetricIsDescribed(t *testing.T) {
	doc, known := operationsDoc(t), map[string]bool{}
	documents, err := persisted.Open(&config.Documents{}, slog.Default())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []prometheus.Collector{
		metrics.NewOperations(nil), &metrics.Projections{}, &metrics.Store{}, metrics.Directories{}, &metrics.DynamoDB{},
		&metrics.RowCache{}, metrics.Connections{}, metrics.Inflight{}, metrics.Auth{}, documents.Collector(),
	} {
		all := make(chan *prometheus.Desc, 100)
		c.Describe(all)
		close(all)
		for d := range all {
			name, row := metricRow(t, d)
			known[name] = true
			if !strings.Contains(doc, row) {
				t.Errorf("docs/operations.md lacks the row\n%s", row)
			}
		}
	}
	for _, name := range regexp.MustCompile(`foldql_\w+`).FindAllString(doc, -1) {
		if !known[name] {
			t.Errorf("docs/operations.md names the metric %s, which there is not", name)
		}
	}
	s := serve(t, newProject(false).App, start{args: []string{"--store", "memory:"}})
	s.query(t, `{ Task(id: "1") { title } }`)
	s.query(t, `{ Nothing }`)
	_, served := s.request(t, "GET", "/metrics", "")
	names := regexp.MustCompile(`(?m)^# TYPE (foldql_\w+) `).FindAllStringSubmatch(served, -1)
	if len(names) == 0 {
		t.Fatalf("no metrics are served:\n%s", served)
	}
	for _, name := range names {
		if !known[name[1]] {
			t.Errorf("docs/operations.md does not describe the metric %s", name[1])
		}
	}
}

// TestEveryCommandAndOptionIsNamed in docs/operations.md.
func TestEveryCommandAndOptionIsNamed(t *testing.T) {
	doc := operationsDoc(t)
	parser, err := kong.New(&commandLine{}, kong.Name("server"))
	if err != nil {
		t.Fatal(err)
	}
	for _, flag := range config.FlagNames(parser.Model.Node) {
		if !regexp.MustCompile("`--(no-)?" + flag + "[`= ]").MatchString(doc) {
			t.Errorf("docs/operations.md does not name --%s", flag)
		}
	}
	for _, command := range parser.Model.Leaves(true) {
		if !strings.Contains(doc, command.FullPath()) {
			t.Errorf("docs/operations.md does not name %s", command.FullPath())
		}
	}
}

// TestEveryTypeOfProblemIsNamed in docs/operations.md, of those that the sources make.
func TestEveryTypeOfProblemIsNamed(t *testing.T) {
	doc, made := operationsDoc(t), regexp.MustCompile(`\b(?:urn|Prefix) \+ "([a-z-]+)"`)
	for _, file := range []string{
		"internal/problem/problem.go", "../eventlog/ingest/problem.go", "../eventlog/httpsource/protocol.go",
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		types := made.FindAllStringSubmatch(string(text), -1)
		if len(types) == 0 {
			t.Errorf("%s makes no problems", file)
		}
		for _, typ := range types {
			if !strings.Contains(doc, "| `"+typ[1]+"` |") {
				t.Errorf("docs/operations.md does not name the problem %s", typ[1])
			}
		}
	}
}

// TestEveryErrorCodeIsNamed in docs/operations.md, of those that GraphQL errors have.
func TestEveryErrorCodeIsNamed(t *testing.T) {
	doc := operationsDoc(t)
	text, err := os.ReadFile("../graph/graphqlerr/graphqlerr.go")
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`\bCode = "([A-Z_]+)"`).FindAllStringSubmatch(string(text), -1)
	if len(codes) == 0 {
		t.Error("there are no codes")
	}
	for _, code := range codes {
		if !strings.Contains(doc, "| `"+code[1]+"` |") {
			t.Errorf("docs/operations.md does not name the code %s", code[1])
		}
	}
}
