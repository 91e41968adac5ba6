package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"text/tabwriter"

	"github.com/foldql/foldql/graph"
	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/graphqlhttp"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/plural"
)

// explainCommand says what answering an operation reads.
type explainCommand struct {
	Query     string `arg:"" help:"The document; - reads it from standard input."`
	Operation string `help:"Name of the operation, if the document has several."`
	Variables string `help:"Values of its variables, a JSON object." placeholder:"JSON" default:"{}"`
	JSON      bool   `name:"json" help:"Print JSON."`
}

// mostDocument is how long a document from standard input may be, in bytes.
const mostDocument = 1 << 20

// Run prints what is read.
func (c *explainCommand) Run(p *program) error {
	document := c.Query
	if document == "-" {
		text, err := io.ReadAll(io.LimitReader(p.Stdin, mostDocument+1))
		if err == nil && len(text) > mostDocument {
			err = fmt.Errorf("it is longer than %d bytes: explain its operations one at a time", mostDocument)
		}
		if err != nil {
			return fmt.Errorf("read the document from standard input: %w", err)
		}
		document = string(text)
	}
	variables := map[string]any{}
	values := json.NewDecoder(strings.NewReader(c.Variables))
	values.UseNumber()
	if err := values.Decode(&variables); err != nil {
		return config.Wrong("variables", "they must be a JSON object: %w", err)
	}
	if _, err := values.Token(); !errors.Is(err, io.EOF) {
		return config.Wrong("variables", "there is more after the JSON object: give one object, with all values")
	}
	x, err := explain(context.Background(), p.app, document, c.Operation, variables)
	if err != nil {
		return fmt.Errorf("explain the query: %s", reasonOf(err))
	}
	if c.JSON {
		out := json.NewEncoder(p.Stdout)
		out.SetIndent("", "  ")
		return out.Encode(x)
	}
	return printExplanation(p.Stdout, x)
}

// reasonOf is why a query is not explained, and how to give the values of variables where these are wrong.
func reasonOf(err error) string {
	reason := strings.Join(graphqlerr.MessagesOf(err), "\n")
	if strings.Contains(reason, "variable $") && graphqlerr.CodeOf(err) == graphqlerr.BadUserInput {
		reason += `; give the values of variables by --variables, as in --variables '{"name": "value"}'`
	}
	return reason
}

// explain explains an operation, unless the server refuses it whatever the rows are: that is found out by asking it
// where there are none.
func explain(ctx context.Context, app App, document, operation string, variables map[string]any) (
	x *graph.Explanation, err error) {
	db, err := querydb.Open(ctx, memstore.New(), app.Models, querydb.Config{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rt := graph.NewRuntime(db, app.Catalog, graph.Config{AuthOff: true})
	schema := graph.WithCompiledPlans(app.Schema(rt), rt)
	limits := graphqlhttp.Config{Introspection: true, CompressMinBytes: -1}
	asked, err := graphqlhttp.ReadRequest(schema, limits, document, operation, variables)
	if err != nil {
		return nil, err
	}
	if x, err = graph.Explain(schema.Schema(), app.Catalog, asked.Document, asked.Operation, asked.Variables); err != nil {
		return nil, err
	}
	return x, refusalOf(ctx, graphqlhttp.New(schema, limits), document, operation, variables)
}

// refusalOf is the first error that a handler without rows answers an operation with; nil where there is none. Tokens
// of pages are not looked at: those of another server are no mistake.
func refusalOf(ctx context.Context, h http.Handler, document, operation string, variables map[string]any) error {
	body, err := json.Marshal(map[string]any{"query": document, "operationName": operation, "variables": variables})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "/", bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	answer := answerInMemory{header: http.Header{}}
	h.ServeHTTP(&answer, r)
	var response struct {
		Errors []struct {
			Message    string
			Extensions struct{ Code graphqlerr.Code }
		}
	}
	if err := json.Unmarshal(answer.body.Bytes(), &response); err != nil {
		return err
	}
	for _, e := range response.Errors {
		if e.Extensions.Code != graphqlerr.InvalidToken {
			return errors.New(e.Message)
		}
	}
	return nil
}

// answerInMemory is where a handler writes an answer that nobody is sent.
type answerInMemory struct {
	header http.Header
	body   bytes.Buffer
}

func (a *answerInMemory) Header() http.Header            { return a.header }
func (a *answerInMemory) WriteHeader(int)                {}
func (a *answerInMemory) Write(text []byte) (int, error) { return a.body.Write(text) }

// printExplanation prints a line for each step, joins below what they start from.
func printExplanation(to io.Writer, x *graph.Explanation) error {
	if len(x.Steps) == 0 {
		_, err := fmt.Fprintln(to, "the query reads nothing")
		return err
	}
	var lines bytes.Buffer
	table := tabwriter.NewWriter(&lines, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "FIELD\tREADS\tFROM\tBY\tROWS\tKEYS\t")
	printSteps(table, x.Steps, "", "")
	if err := table.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(lines.String()) {
		if _, err := fmt.Fprintln(to, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(to, "\nat most %s in %s; %s, %s examined\n", plural.Count(x.Reads, "read"),
		plural.Count(x.Levels, "level"), plural.Count(x.Rows, "row"), plural.Count(x.Keys, "key"))
	return err
}

// printSteps prints the steps below a path.
func printSteps(to io.Writer, steps []graph.ExplainedStep, below, indent string) {
	for i := range steps {
		s := &steps[i]
		from := "table " + s.Table
		if s.Index != "" {
			from = "index " + s.Index + " of " + s.Table
		}
		fmt.Fprintf(to, "%s%s\t%s\t%s\t%s\t%d\t%d\t\n", indent,
			strings.TrimPrefix(strings.TrimPrefix(s.Path, below), "."), s.How, from, strings.Join(s.By, ", "), s.Rows, s.Keys)
		if len(s.Filter) > 0 {
			fmt.Fprintf(to, "%s  + filter\t\t\t%s\t\t\t\n", indent, strings.Join(s.Filter, ", "))
		}
		if len(s.Lacks) > 0 {
			fmt.Fprintf(to, "%s  + %s\tbatch of keys\ttable %s\t\t\t\t\n", indent, strings.Join(s.Lacks, ", "), s.Table)
		}
		if s.Items > 0 {
			fmt.Fprintf(to, "%s  + items\ta range each\ttable %s\t\t\t%d\t\n", indent, s.Table, s.Items)
		}
		if s.Most > 0 {
			fmt.Fprintf(to, "%s  + refused where more than %d values lead there\t\t\t\t\t\t\n", indent, s.Most)
		}
		if s.Owner != "" {
			fmt.Fprintf(to, "%s  + who may\tby key\ttable of %s\t\t\t\t\n", indent, s.Owner)
		}
		printSteps(to, s.Joins, s.Path, indent+"  ")
	}
}
