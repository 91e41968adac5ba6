package write

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/foldql/foldql/internal/backoff"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/client"
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
	"github.com/foldql/foldql/querydb/dynamostore/internal/layout"
)

// DynamoDB has no unique indexes. Instead, each key that a row has in one is an item of its own, in the same table,
// which names the row: a claim. It is put and deleted in the transaction that changes the row. Which claims a row gives
// up is known from the row as it was; so rows with such indexes are read first, and written if they still are what was
// read.
//
// The key of a claim is made of a hash, because a key of an index may be longer than one of the table.
const (
	claimSort = "\x00" // the sort key of all claims; their partition keys are driver.Reserved
)

// errMoved is an ErrStale: a row was changed after it was read here, and before it was written.
var errMoved = fmt.Errorf("%w: the row was changed meanwhile", driver.ErrStale)

// claim is the key of a row in a unique index.
type claim struct {
	index string
	key   keys.Key
	row   string // that is to have it
}

// conditionFailed: whoever gives a key up and does not have it has nothing to do, and whoever claims it has a conflict.
func (cl *claim) conditionFailed(c *change) error {
	if c.update == "" {
		return nil
	}
	return cl.conflict()
}

func (cl *claim) conflict() error {
	return fmt.Errorf("%w: the row would have the key %s in the unique index %s, which another row has",
		driver.ErrConflict, driver.PrintableKey(cl.key), cl.index)
}

// holding is who has a claim before and after the batch.
type holding struct {
	shape   *item.Codec
	claim   claim
	before  []string   // rows of the batch: several where one has expired, and another has taken its key
	after   string     // a row; "" for none of the batch
	sure    bool       // the row that has it keeps it, and it will not go by itself
	ttl     item.Value // when the row that is to have it may go
	expires item.Value // when it ceases to be
	time    item.Value // of the event: a row that has expired by then does not have it
}

// claimsKeys reports whether the write may put or delete claims. A check of a row leaves its keys as they are.
func claimsKeys(w *driver.Write) bool { return w.Kind != driver.CheckRevision && w.Table.Unique() }

// applyUnique writes a batch of which rows have unique keys, in one transaction. Where rows change between being read
// and being written, it reads them again.
func (a *Applier) applyUnique(ctx context.Context, b *driver.Batch) error {
	began := time.Now()
	for n := 0; ; n++ {
		list, err := a.uniqueChanges(ctx, b)
		if err == nil {
			err = a.transact(ctx, b.Deadline, list)
		}
		if !errors.Is(err, errMoved) {
			return err
		}
		delay := client.Delay(n)
		if time.Since(began)+delay > a.client.Options.RetryFor {
			return err
		}
		if err := backoff.Wait(ctx, delay); err != nil {
			return err
		}
	}
}

// uniqueChanges makes the changes of a batch: of rows, and after them those of claims.
func (a *Applier) uniqueChanges(ctx context.Context, b *driver.Batch) ([]*change, error) {
	all, err := a.changes(b)
	if err != nil {
		return nil, err
	}
	before, err := a.before(ctx, b, all)
	if err != nil {
		return nil, err
	}
	var list []*change
	claims := claims{at: map[string]*holding{}}
	for i, c := range all {
		if !claimsKeys(c.write) {
			list = append(list, c)
			continue
		}
		row := &before[i]
		if pos := c.write.Row.Position; !c.read && pos != (driver.Position{}) && !row.LastApplied(pos.Partition).Before(pos) {
			a.client.Counters.ConditionFailed.Add(1)
			continue // it was applied before
		}
		if !c.read {
			if c, err = c.ofRow(row.Revision); err != nil {
				return nil, err
			}
		}
		list = append(list, c)
		if err := claims.add(c, row, b.Writer); err != nil {
			return nil, client.Wrap("write row "+c.row+" of", c.table, err)
		}
	}
	for _, key := range claims.order {
		if c := claims.at[key].change(key); c != nil {
			list = append(list, c)
		}
	}
	return list, nil
}

// before reads the rows that changes with unique keys are about.
func (a *Applier) before(ctx context.Context, b *driver.Batch, all []*change) ([]driver.Row, error) {
	rows := make([]driver.Row, len(all))
	asked := map[*driver.Table][]int{}
	for i, c := range all {
		if t := c.write.Table; claimsKeys(c.write) {
			asked[t] = append(asked[t], i)
		}
	}
	for t, list := range asked {
		g := driver.Get{Table: t, Consistent: true, Writer: b.Writer}
		for _, i := range list {
			g.Keys = append(g.Keys, all[i].write.Row.Key)
		}
		got, err := a.reader.GetKinds(ctx, &g, nil, nil)
		if err != nil {
			return nil, err
		}
		for n, i := range list {
			rows[i] = got[n]
		}
	}
	return rows, nil
}

// ofRow makes the change again, of the row as it was read here.
func (c *change) ofRow(revision uint64) (*change, error) {
	w := *c.write
	w.IfRevision, w.Row.Revision = true, revision
	next, err := changeOf(c.shape, &w, c.writer, c.now)
	if err == nil {
		next.reread = true
	}
	return next, err
}

// claims are those that a batch is about, by the key of their item and its table.
type claims struct {
	at    map[string]*holding
	order []string
}

// add notes what the change does to the claims of the row.
func (l *claims) add(c *change, before *driver.Row, writer string) error {
	s, w := c.shape, c.write
	row := strconv.Quote(w.Row.Key.PK) + " " + strconv.Quote(w.Row.Key.SK)
	after := w.RowAfter(writer, before)
	for i := range s.Table.Indexes {
		if !s.Table.Indexes[i].Unique {
			continue
		}
		if k, has := entered(s.Table, before, i); has {
			h := l.holding(s, i, k)
			h.before = append(h.before, row)
		}
		k, has := entered(s.Table, &after, i)
		if !has || after.Expired(w.Time) {
			continue
		}
		h := l.holding(s, i, k)
		if h.after != "" {
			return h.claim.conflict()
		}
		h.after, h.claim.row = row, c.row
		h.sure = before.Revision > 0 && before.Expires.IsZero() && after.Expires.IsZero()
		if !after.Expires.IsZero() {
			h.ttl, h.expires = item.Removal(after.Expires, c.now), item.Number(item.InstantText(after.Expires))
		}
		if !w.Time.IsZero() && !s.Table.NoExpiry {
			h.time = item.Number(item.InstantText(w.Time))
		}
	}
	return nil
}

func entered(t *driver.Table, row *driver.Row, i int) (k keys.Key, has bool) {
	if row.Record == nil || i >= len(row.Indexes) || !row.Indexes[i].InIndex(&t.Indexes[i]) {
		return k, false
	}
	k = row.Indexes[i].Key
	if !t.Indexes[i].Sorted() {
		k.SK = ""
	}
	return k, true
}

func (l *claims) holding(s *item.Codec, i int, k keys.Key) *holding {
	key := s.Layout.Table + "\n" + ClaimKey(s.Table.Kind, s.Table.Indexes[i].Name, k)
	h := l.at[key]
	if h == nil {
		h = &holding{shape: s, claim: claim{index: s.Table.Indexes[i].Name, key: k}}
		l.at[key] = h
		l.order = append(l.order, key)
	}
	return h
}

// ClaimKey is the partition key of a claim.
func ClaimKey(kind, index string, k keys.Key) string {
	h := sha256.New()
	for _, part := range [...]string{kind, index, k.PK, k.SK} {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write([]byte(part))
	}
	return driver.ReservedPrefix + base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// change makes the request that puts the claim into its place, nil where it is there.
func (h *holding) change(key string) *change {
	s := h.shape
	if len(h.before) == 1 && h.before[0] == h.after && h.sure {
		return nil
	}
	_, pk, _ := strings.Cut(key, "\n")
	c := &change{table: s.Layout.Table, row: h.claim.row, shape: s, claim: &h.claim,
		names: map[string]string{"#of": layout.AttrOf}, values: item.Item{}}
	c.key = s.Key(keys.Key{PK: pk, SK: claimSort})
	c.condition = "attribute_not_exists(#of)"
	for i, row := range h.before {
		name := ":before" + strconv.Itoa(i)
		c.condition += " OR #of = " + name
		c.values[name] = item.Text(row)
	}
	if h.after == "" {
		return c // deletes it
	}
	c.condition += " OR #of = :of"
	c.names["#claim"] = layout.AttrClaim
	c.values[":of"], c.values[":claim"] = item.Text(h.after), item.Text(h.claim.index+" "+strconv.Quote(h.claim.key.PK)+
		" "+
		strconv.Quote(h.claim.key.SK))
	c.names["#ttl"], c.names["#expires"] = layout.AttrTTL, layout.AttrExpires
	if h.time != nil {
		c.condition += " OR #expires <= :time"
		c.values[":time"] = h.time
	}
	c.update = "SET #of=:of,#claim=:claim"
	if h.ttl != nil {
		c.update += ",#ttl=:ttl,#expires=:expires"
		c.values[":ttl"], c.values[":expires"] = h.ttl, h.expires
	} else {
		c.update += " REMOVE #ttl,#expires"
	}
	for name, v := range c.values {
		c.size += len(name) + item.ValueSize(v)
	}
	return c
}
