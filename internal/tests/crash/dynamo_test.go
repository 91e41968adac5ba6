package crash

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/internal/tests/crash/verifier"
	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/internal/tests/faultproxy"
)

// dynamo is a world of servers that share tables in DynamoDB, which they reach through a proxy that disturbs them.
type dynamo struct {
	at     dynamolocal.Endpoint
	client *dynamodb.Client // past the proxy
	proxy  *faultproxy.Proxy
	front  *httptest.Server // the proxy's
}

// openDynamo returns what makes a world at an engine, in which servers lack something.
func openDynamo(t *testing.T, engine dynamolocal.Engine, without faultproxy.Without) func(tr *trial) (world, error) {
	return func(tr *trial) (world, error) {
		d := &dynamo{at: dynamolocal.Start(t, engine)}
		d.at.Setenv(t) // for the verifier, and for us
		cfg, err := config.LoadDefaultConfig(t.Context())
		if err != nil {
			return nil, err
		}
		d.client = dynamodb.NewFromConfig(cfg)
		if err := d.makeTables(t.Context(), tr); err != nil {
			return nil, err
		}
		tr.commitWithin = []time.Duration{10 * time.Minute, 2 * time.Second}[tr.rng.IntN(2)]
		var mostHeld time.Duration
		if tr.on.pair {
			mostHeld = time.Second // however slow the other server is
		}
		d.proxy = faultproxy.New(faultproxy.Config{
			Backend: d.at.URL, Seed: tr.seed, Rates: rates(tr, without == faultproxy.WriteConditions),
			SignedWithin: tr.commitWithin, Without: without, Notes: d.at.Prefix + "foldql", MostHeld: mostHeld,
			StaleIndexes: []time.Duration{0, 3 * time.Second}[tr.rng.IntN(2)],
		})
		d.front = httptest.NewServer(d.proxy)
		return d, nil
	}
}

// makeTables makes the tables that are missing.
func (d *dynamo) makeTables(ctx context.Context, tr *trial) error {
	cmd := exec.CommandContext(ctx, tr.on.bin, "tables", "apply", "--store", d.store())
	cmd.Env = append(environment(), tr.release()...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("make the tables: %w\n%s", err, out)
	}
	return nil
}

// lose removes the table of a model, or of several that share it, which an operator makes again. The table of notes
// stays: a server does not start without it.
func (d *dynamo) lose(ctx context.Context, tr *trial) error {
	d.proxy.Settle()
	tables, err := d.tables(ctx)
	if err != nil {
		return err
	}
	ofRows := slices.DeleteFunc(tables, func(name string) bool { return name == d.at.Prefix+"foldql" })
	if err := d.remove(ctx, ofRows[tr.rng.IntN(len(ofRows))]); err != nil {
		return err
	}
	return d.makeTables(ctx, tr)
}

func (d *dynamo) remove(ctx context.Context, table string) error {
	_, err := d.client.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: &table,
		DeletionProtectionEnabled: aws.Bool(false)})
	if err == nil {
		_, err = d.client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &table})
	}
	return err
}

// rates draws how bad it is, in all and of each kind.
func rates(tr *trial, bad bool) faultproxy.Rates {
	worst := []float64{0, .01, .03, .1}[tr.rng.IntN(4)]
	if bad {
		worst = .1
	}
	all := faultproxy.Even(0)
	for i := range all {
		all[i] = worst * tr.rng.Float64()
	}
	if tr.on.pair {
		all = faultproxy.Even(0) // it is about how two servers take turns
	}
	if tr.on.partitions > 1 {
		all[faultproxy.Held] = .3 // commits of one partition between a read for another and the commit of that
	}
	return all
}

func (d *dynamo) store() string { return "dynamodb:" + d.at.Prefix }

func (d *dynamo) servers() (args, env []string) {
	return []string{"--store", d.store()}, append(d.at.Env(), "AWS_ENDPOINT_URL_DYNAMODB="+d.front.URL)
}

func (d *dynamo) most() int { return 2 }

func (d *dynamo) oneMoment() bool { return false }

func (d *dynamo) afterWrites(n int) <-chan struct{} { return d.proxy.AfterWrites(n) }

// forget removes what word there is of deleted rows, as DynamoDB does days later.
func (d *dynamo) forget(ctx context.Context) (n int, err error) {
	d.proxy.Settle()
	tables, err := d.tables(ctx)
	if err != nil {
		return 0, err
	}
	for _, table := range tables {
		one, err := d.forgetTable(ctx, table)
		if n += one; err != nil {
			return n, err
		}
	}
	return n, nil
}

func (d *dynamo) forgetTable(ctx context.Context, table string) (n int, err error) {
	described, err := d.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
	if err != nil {
		return 0, err
	}
	pages := dynamodb.NewScanPaginator(d.client, &dynamodb.ScanInput{
		TableName: &table, FilterExpression: aws.String("attribute_exists(#d)"),
		ExpressionAttributeNames: map[string]string{"#d": "_deleted"},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return n, err
		}
		for _, item := range page.Items {
			key := map[string]types.AttributeValue{}
			for _, k := range described.Table.KeySchema {
				key[*k.AttributeName] = item[*k.AttributeName]
			}
			// A server that builds rows meanwhile may have written the row anew, or deleted it once more.
			_, err := d.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
				TableName: &table, Key: key, ConditionExpression: aws.String("attribute_exists(#d) AND #r = :r"),
				ExpressionAttributeNames:  map[string]string{"#d": "_deleted", "#r": "_rev"},
				ExpressionAttributeValues: map[string]types.AttributeValue{":r": item["_rev"]},
			})
			var changed *types.ConditionalCheckFailedException
			if errors.As(err, &changed) {
				continue
			}
			if err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

func (d *dynamo) calm() { d.proxy.Quiet() }

func (d *dynamo) settle() { d.proxy.Settle() }

// check counts what lies in the tables and in their indexes, which the driver reads by keys alone: there must be no
// more than what was found under the keys that ever were.
func (d *dynamo) check(ctx context.Context, v *verifier.Verdict) error {
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(v.Counts)) {
		n, err := d.scan(ctx, name)
		if err != nil {
			return err
		}
		if n != v.Counts[name] {
			wrong = append(wrong, fmt.Errorf("%s holds %d rows, want %d", name, n, v.Counts[name]))
		}
	}
	return errors.Join(wrong...)
}

// scan counts the rows of a table, or the entries of table/index; neither deleted rows, of which word is kept, nor
// claims of unique keys, nor the table's mark count.
func (d *dynamo) scan(ctx context.Context, name string) (n int, err error) {
	table, index, _ := strings.Cut(name, "/")
	in := &dynamodb.ScanInput{
		TableName: aws.String(d.at.Prefix + table), Select: types.SelectCount,
		FilterExpression: aws.String("attribute_not_exists(#d) AND attribute_not_exists(#u) AND " +
			"attribute_not_exists(#f) AND " +
			"(attribute_not_exists(#e) OR #e > :e)"),
		ExpressionAttributeNames: map[string]string{"#d": "_deleted", "#u": "_unique", "#f": "_fold", "#e": "_expires"},
		// Those that may have been removed do not count: see verifier.Removable.
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":e": &types.AttributeValueMemberN{Value: fmt.Sprint(time.Now().Add(-47 * time.Hour).Unix())},
		},
	}
	if index != "" {
		in.IndexName = &index
	}
	pages := dynamodb.NewScanPaginator(d.client, in)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return 0, err
		}
		n += int(page.Count)
	}
	return n, nil
}

// end deletes the tables, which the engine has in memory.
func (d *dynamo) end(r *report) error {
	d.front.Close()
	d.proxy.Close()
	r.faults = d.proxy.Counts()
	ctx := context.Background() // also where that of the trial has ended
	tables, err := d.tables(ctx)
	if err != nil {
		return err
	}
	for _, name := range tables {
		if err := d.remove(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// tables are those of the trial.
func (d *dynamo) tables(ctx context.Context) (all []string, err error) {
	pages := dynamodb.NewListTablesPaginator(d.client, &dynamodb.ListTablesInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, name := range page.TableNames {
			if strings.HasPrefix(name, d.at.Prefix) {
				all = append(all, name)
			}
		}
	}
	return all, nil
}
