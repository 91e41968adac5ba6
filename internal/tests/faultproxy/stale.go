package faultproxy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// past is what rows were before they were written, as long as an index may still show it.
type past struct {
	most   time.Duration
	mu     sync.Mutex
	rows   map[string]*row
	tables map[string]*keySchema
}

// row is what one row was.
type row struct {
	table  string
	key    object
	lag    time.Duration // of indexes behind this row
	write  sync.Mutex    // held while a write of the row is delivered
	images []image       // in the order of time
}

// image is a row until it was written; nil is no row.
type image struct {
	until time.Time
	item  object
}

// keySchema are the key attributes of a table and of its indexes, the partition key first, and what an index projects.
type keySchema struct {
	keys    []string
	indexes map[string]indexSchema
}

type indexSchema struct {
	keys      []string
	projected []string // nil for all
}

// remember delivers a write, and keeps what the rows were that it writes.
func (p *Proxy) remember(req *request) (*answer, error) {
	written, err := p.written(req)
	if err != nil {
		return nil, err
	}
	for _, r := range written { // in one order, so that nobody waits for each other
		r.write.Lock()
		defer r.write.Unlock()
	}
	before := make([]object, len(written))
	for i, r := range written {
		if before[i], err = p.item(req, r); err != nil {
			return nil, err
		}
	}
	ans, err := p.deliver(req)
	p.past.mu.Lock()
	defer p.past.mu.Unlock()
	now := p.now()
	for i, r := range written {
		r.images = slices.DeleteFunc(r.images, func(old image) bool { return now.Sub(old.until) > p.past.most })
		r.images = append(r.images, image{now, before[i]})
	}
	return ans, err
}

// written are the rows that a request writes, in an order of their own.
func (p *Proxy) written(req *request) ([]*row, error) {
	type single struct {
		TableName string
		Key, Item object
	}
	var body struct {
		single
		TransactItems []map[string]single
	}
	if err := json.Unmarshal(req.body, &body); err != nil {
		return nil, fmt.Errorf("read a write: %w", err)
	}
	singles := []single{body.single}
	for _, item := range body.TransactItems {
		for act, one := range item {
			if act != "ConditionCheck" {
				singles = append(singles, one)
			}
		}
	}
	found := map[string]*row{}
	for _, one := range singles {
		if one.TableName == "" {
			continue
		}
		if one.Key == nil {
			schema, err := p.schema(req, one.TableName)
			if err != nil {
				return nil, err
			}
			one.Key = part(one.Item, schema.keys)
		}
		name, r := p.past.row(one.TableName, one.Key, p.cfg.Seed)
		found[name] = r
	}
	var all []*row
	for _, name := range slices.Sorted(maps.Keys(found)) {
		all = append(all, found[name])
	}
	return all, nil
}

func (p *past) row(table string, key object, seed uint64) (string, *row) {
	name := table + " " + string(encode(key))
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.rows[name] == nil {
		h := fnv.New64a()
		_, _ = fmt.Fprint(h, seed, name)
		p.rows[name] = &row{table: table, key: key, lag: time.Duration(h.Sum64() % uint64(p.most))}
	}
	return name, p.rows[name]
}

// item reads a row as it is, nil where there is none.
func (p *Proxy) item(req *request, r *row) (object, error) {
	var out struct{ Item object }
	err := p.ask(req, "GetItem", map[string]any{"TableName": r.table, "Key": r.key, "ConsistentRead": true}, &out)
	return out.Item, err
}

// schema is what the endpoint says of a table, once.
func (p *Proxy) schema(req *request, table string) (*keySchema, error) {
	p.past.mu.Lock()
	known := p.past.tables[table]
	p.past.mu.Unlock()
	if known != nil {
		return known, nil
	}
	type keyed struct {
		IndexName  string
		KeySchema  []struct{ AttributeName, KeyType string }
		Projection struct {
			ProjectionType   string
			NonKeyAttributes []string
		}
	}
	var out struct {
		Table struct {
			keyed
			GlobalSecondaryIndexes []keyed
		}
	}
	if err := p.ask(req, "DescribeTable", map[string]any{"TableName": table}, &out); err != nil {
		return nil, err
	}
	names := func(k keyed) (list []string) {
		for _, a := range k.KeySchema {
			if a.KeyType == "HASH" {
				list = slices.Insert(list, 0, a.AttributeName)
			} else {
				list = append(list, a.AttributeName)
			}
		}
		return list
	}
	s := &keySchema{keys: names(out.Table.keyed), indexes: map[string]indexSchema{}}
	for _, x := range out.Table.GlobalSecondaryIndexes {
		index := indexSchema{keys: names(x)}
		if x.Projection.ProjectionType != "ALL" {
			index.projected = slices.Concat(s.keys, index.keys, x.Projection.NonKeyAttributes)
		}
		s.indexes[x.IndexName] = index
	}
	p.past.mu.Lock()
	p.past.tables[table] = s
	p.past.mu.Unlock()
	return s, nil
}

// ask sends a request of the proxy's own, signed as another was: the endpoints that this package stands before do not
// look.
func (p *Proxy) ask(as *request, operation string, body, into any) error {
	own := &request{operation: operation, host: as.host, header: as.header.Clone(), body: encode(body)}
	own.header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	ans, err := p.deliver(own)
	if err != nil {
		return err
	}
	if ans.status != http.StatusOK {
		return fmt.Errorf("%s: the endpoint answers %d: %s", operation, ans.status, ans.body)
	}
	return json.Unmarshal(ans.body, into)
}

// indexQuery is what a query of an index asks for.
type indexQuery struct {
	TableName, IndexName      string
	KeyConditionExpression    string
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues map[string]struct{ S string }
	ExclusiveStartKey         object
	ScanIndexForward          *bool
	Limit                     int

	schema *keySchema
	index  indexSchema
}

// stale delivers a query. Where it is of a global index, rows that were written lately are in the answer as they were.
func (p *Proxy) stale(req *request) (*answer, error) {
	var q indexQuery
	if err := json.Unmarshal(req.body, &q); err != nil {
		return nil, fmt.Errorf("read a query: %w", err)
	}
	ans, err := p.deliver(req)
	if err != nil || ans.status != http.StatusOK || q.IndexName == "" {
		return ans, err
	}
	if q.schema, err = p.schema(req, q.TableName); err != nil {
		return nil, err
	}
	var global bool
	if q.index, global = q.schema.indexes[q.IndexName]; !global {
		return ans, nil
	}
	return ans, p.age(&q, ans)
}

// age makes the answer one of the past.
func (p *Proxy) age(q *indexQuery, ans *answer) error {
	var body struct {
		Items            []object
		LastEvaluatedKey object
	}
	var rest object
	if err := json.Unmarshal(ans.body, &body); err != nil {
		return err
	}
	if err := json.Unmarshal(ans.body, &rest); err != nil {
		return err
	}
	items, changed := body.Items, false
	for key, old := range p.past.of(q.TableName, p.now()) {
		n := len(items)
		items = slices.DeleteFunc(items, func(it object) bool { return string(encode(part(it, q.schema.keys))) == key })
		changed = changed || len(items) < n
		if old != nil && q.selects(old, body.LastEvaluatedKey) {
			items, changed = append(items, q.project(old)), true
		}
	}
	if !changed {
		return nil
	}
	slices.SortStableFunc(items, q.compare)
	if q.Limit > 0 && len(items) > q.Limit {
		items = items[:q.Limit]
		rest["LastEvaluatedKey"] = encode(part(items[q.Limit-1], slices.Concat(q.schema.keys, q.index.keys)))
	}
	rest["Items"], rest["Count"], rest["ScannedCount"] = encode(items), encode(len(items)), encode(len(items))
	ans.body = encode(rest)
	return nil
}

// of are the rows of a table, by key, that an index shows as they were.
func (p *past) of(table string, now time.Time) map[string]object {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := map[string]object{}
	for _, r := range p.rows {
		if r.table != table {
			continue
		}
		for _, im := range r.images {
			if im.until.After(now.Add(-r.lag)) {
				all[string(encode(r.key))] = im.item
				break
			}
		}
	}
	return all
}

// selects reports whether the query finds the item on this page.
func (q *indexQuery) selects(it, last object) bool {
	for _, k := range q.index.keys {
		if it[k] == nil {
			return false
		}
	}
	for _, condition := range strings.Split(strings.ReplaceAll(q.KeyConditionExpression, " BETWEEN ", " "), " AND ") {
		if !q.satisfied(it, strings.Fields(strings.NewReplacer("(", " ", ")", " ", ",", " ").Replace(condition))) {
			return false
		}
	}
	return (q.ExclusiveStartKey == nil || q.compare(it, q.ExclusiveStartKey) > 0) &&
		(last == nil || q.compare(it, last) <= 0)
}

// satisfied verifies one condition, in the forms in which this project writes them. A BETWEEN comes as its two ends.
func (q *indexQuery) satisfied(it object, words []string) bool {
	value := func(word string) string { return q.ExpressionAttributeValues[word].S }
	attr := func(word string) string { return text(it[q.ExpressionAttributeNames[word]]) }
	switch {
	case len(words) == 1: // the upper end of a BETWEEN
		return attr("#sk") <= value(words[0])
	case len(words) == 2: // the lower one
		return attr(words[0]) >= value(words[1])
	case words[0] == "begins_with":
		return strings.HasPrefix(attr(words[1]), value(words[2]))
	case words[1] == "=":
		return attr(words[0]) == value(words[2])
	case words[1] == ">=":
		return attr(words[0]) >= value(words[2])
	case words[1] == "<=":
		return attr(words[0]) <= value(words[2])
	}
	panic("a condition of an unknown form: " + strings.Join(words, " "))
}

// compare orders items, or keys of them, as the index does in the direction of the query.
func (q *indexQuery) compare(a, b object) int {
	order := 0
	for _, k := range slices.Concat(q.index.keys[1:], q.schema.keys) {
		order = cmp.Or(order, strings.Compare(text(a[k]), text(b[k])))
	}
	if q.ScanIndexForward != nil && !*q.ScanIndexForward {
		return -order
	}
	return order
}

func (q *indexQuery) project(it object) object {
	if q.index.projected == nil {
		return it
	}
	return part(it, q.index.projected)
}

// part are some attributes of an item.
func part(it object, names []string) object {
	some := object{}
	for _, n := range names {
		if it[n] != nil {
			some[n] = it[n]
		}
	}
	return some
}

// text is the value of a key attribute, which all are texts.
func text(attribute json.RawMessage) string {
	var v struct{ S string }
	_ = json.Unmarshal(attribute, &v) // another type is no key
	return v.S
}
