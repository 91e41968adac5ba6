package server

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/metrics"
	"github.com/foldql/foldql/server/internal/persisted"
)

// reference is the page that lists what of the server has a name, but for its commands.
const reference = "docs/operations/reference.md"

// pages is the text of the pages that a pattern names.
func pages(t *testing.T, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s names no pages: %v", pattern, err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

var described = regexp.MustCompile(`fqName: "(\w+)", help: "([^"]*)", .*variableLabels: {([\w,]*)}`)

// metricRow is the row of a metric in the reference.
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

// TestEveryMetricIsDescribed: the reference has a row with the labels and the meaning of each, and names no other.
func TestEveryMetricIsDescribed(t *testing.T) {
	doc, known := pages(t, reference), map[string]bool{}
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
				t.Errorf("%s lacks the row\n%s", reference, row)
			}
		}
	}
	for _, name := range regexp.MustCompile(`foldql_\w+`).FindAllString(doc, -1) {
		if !known[name] {
			t.Errorf("%s names the metric %s, which there is not", reference, name)
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
			t.Errorf("%s does not describe the metric %s", reference, name[1])
		}
	}
}

// TestEveryCommandAndOptionIsNamed in docs/operations.md, or on a page below it.
func TestEveryCommandAndOptionIsNamed(t *testing.T) {
	doc := pages(t, "docs/operations.md") + pages(t, "docs/operations/*.md")
	parser, err := kong.New(&commandLine{}, kong.Name("server"))
	if err != nil {
		t.Fatal(err)
	}
	for _, flag := range config.FlagNames(parser.Model.Node) {
		if !regexp.MustCompile("`--(no-)?" + flag + "[`= ]").MatchString(doc) {
			t.Errorf("no page of docs/operations names --%s", flag)
		}
	}
	for _, command := range parser.Model.Leaves(true) {
		if !strings.Contains(doc, command.FullPath()) {
			t.Errorf("no page of docs/operations names %s", command.FullPath())
		}
	}
}

// TestEveryTypeOfProblemIsNamed in the reference, of those that the sources make.
func TestEveryTypeOfProblemIsNamed(t *testing.T) {
	doc, made := pages(t, reference), regexp.MustCompile(`\b(?:urn|Prefix) \+ "([a-z-]+)"`)
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
				t.Errorf("%s does not name the problem %s", reference, typ[1])
			}
		}
	}
}

// TestEveryErrorCodeIsNamed in the reference, of those that GraphQL errors have.
func TestEveryErrorCodeIsNamed(t *testing.T) {
	doc := pages(t, reference)
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
			t.Errorf("%s does not name the code %s", reference, code[1])
		}
	}
}
