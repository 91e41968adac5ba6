package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/foldql/foldql/graph"
	"github.com/foldql/foldql/graph/graphqlhttp"
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
	schema := p.app.Schema(graph.NewRuntime(nil, p.app.Catalog, graph.Config{})) // nothing is read
	asked, err := graphqlhttp.ReadRequest(schema, graphqlhttp.Config{Introspection: true}, document, c.Operation,
		variables)
	var x *graph.Explanation
	if err == nil {
		x, err = graph.Explain(schema.Schema(), p.app.Catalog, asked.Document, asked.Operation, asked.Variables)
	}
	if err != nil {
		return fmt.Errorf("explain the query: %w", err)
	}
	if c.JSON {
		out := json.NewEncoder(p.Stdout)
		out.SetIndent("", "  ")
		return out.Encode(x)
	}
	return printExplanation(p.Stdout, x)
}

// printExplanation prints a line for each step, joins below what they start from.
func printExplanation(to io.Writer, x *graph.Explanation) error {
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
