package projection_test

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// oracle folds script events one at a time into a map, in the plainest way there is: what the engine must equal,
// whatever its windows, faults and restarts.
type oracle struct {
	rows        map[Key]stored
	deadLetters []uint64
	held        map[string]bool // subjects
	emptied     map[string]bool // partitions, by the event in hand
	// watermark is the greatest time of any event so far: rows that end by then are none.
	watermark time.Time
}

func newOracle() *oracle {
	return &oracle{rows: map[Key]stored{}, held: map[string]bool{}}
}

func (o *oracle) fold(events []eventlog.Event) {
	for _, e := range events {
		if e.Time.After(o.watermark) {
			o.watermark = e.Time
		}
		if o.held[e.Subject] {
			o.deadLetters = append(o.deadLetters, e.Offset)
			continue
		}
		if !o.take(e, e.Offset) {
			o.deadLetters = append(o.deadLetters, e.Offset)
			o.held[e.Subject] = e.Subject != ""
		}
	}
}

// take folds one event, all of it or none, at the moment.
func (o *oracle) take(e eventlog.Event, moment uint64) bool {
	var d Data
	if json.Unmarshal(e.Data, &d) != nil {
		return false
	}
	before := o.rows
	o.rows = map[Key]stored{}
	for k, v := range before {
		v.Row = Codec.Clone(&v.Row)
		v.Indexes = slices.Clone(v.Indexes)
		o.rows[k] = v
	}
	own := map[Key]bool{}
	o.emptied = map[string]bool{}
	for _, s := range d.Steps {
		if !o.step(s, e.Time, querydb.Position{Partition: e.Partition, Offset: moment}, before, own) {
			o.rows = before
			return false
		}
	}
	for _, r := range o.rows {
		if r.Row.Total >= 1<<31 {
			o.rows = before
			return false
		}
	}
	return true
}

func (o *oracle) step(s Step, at time.Time, pos querydb.Position, before map[Key]stored, own map[Key]bool) bool {
	key := Key{ID: s.ID, Version: s.Version}
	was, there := o.rows[key]
	there = there && o.lasts(was)
	put := func(key Key, row Row, kept []querydb.IndexKey) bool {
		if row.ID == "" || row.Version == "" {
			return false
		}
		row.CreatedAt, row.UpdatedAt = at, at
		if old, ok := o.rows[key]; ok && o.lasts(old) {
			row.CreatedAt = old.Row.CreatedAt
		}
		x := indexOf(row)
		if !x.HasPK && kept != nil {
			x.PK, x.HasPK = kept[0].PK, kept[0].HasPK
		}
		if !x.HasSK && kept != nil {
			x.SK, x.HasSK = kept[0].SK, kept[0].HasSK
		}
		o.rows[key] = stored{Row: row, Indexes: []querydb.IndexKey{x}, Position: pos}
		own[key] = true
		return true
	}
	switch s.Op {
	case "set", "create":
		if s.Op == "create" && there {
			return s.ID != "" && s.Version != ""
		}
		row := Row{ID: s.ID, Version: s.Version, Customer: s.Customer, Rank: s.Rank, Total: s.Total, Expires: s.Expires}
		if s.Note != "" {
			row.Notes = []string{s.Note}
		}
		if s.Note == "break" {
			row.Total = Unstorable
		}
		return put(key, row, nil)
	case "update", "upsert":
		if !there && s.Op == "update" {
			return false
		}
		row := Row{ID: s.ID, Version: s.Version}
		var kept []querydb.IndexKey
		if there {
			row = Codec.Clone(&was.Row)
			kept = was.Indexes
		}
		s.Change(&row)
		if row.ID != s.ID {
			return false
		}
		if there {
			kept = slices.Clone(kept)
			if !equal(was.Row.Customer, row.Customer) {
				kept[0].PK, kept[0].HasPK = "", false
			}
			if !equal(was.Row.Rank, row.Rank) {
				kept[0].SK, kept[0].HasSK = "", false
			}
		}
		return put(key, row, kept)
	case "follow":
		var latest stored
		for k, r := range o.rows {
			p := r.Position
			if own[k] { // where it stood before the event
				old, ok := before[k]
				if !ok || !o.lasts(old) {
					continue
				}
				p = old.Position
			}
			if k.ID != s.ID || strings.HasPrefix(k.Version, "~") || !o.lasts(r) || o.emptied[k.ID] {
				continue
			}
			if c := cmp.Or(cmp.Compare(p.Offset, latest.Position.Offset), cmp.Compare(k.Version, latest.Row.Version)); c > 0 {
				latest = r
				latest.Position = p
			}
		}
		next := s.Following(Codec.Clone(&latest.Row))
		return put(Key{ID: s.ID, Version: next.Version}, next, nil)
	case "patch":
		row := Row{ID: s.ID, Version: s.Version}
		var kept []querydb.IndexKey
		if there {
			row, kept = Codec.Clone(&was.Row), slices.Clone(was.Indexes)
		} else {
			kept = []querydb.IndexKey{{}}
		}
		unsaid := func(field string) bool { return !slices.Contains(s.Clear, field) && !slices.Contains(s.Remove, field) }
		if s.Customer != nil {
			row.Customer = s.Customer
			if x := indexOf(row); x.HasPK && unsaid("customer") {
				kept[0].PK, kept[0].HasPK = x.PK, true
			}
		}
		if s.Rank != nil {
			row.Rank = s.Rank
			if x := indexOf(row); unsaid("rank") {
				kept[0].SK, kept[0].HasSK = x.SK, true
			}
		}
		if s.Total != 0 {
			row.Total = s.Total
		}
		for _, f := range s.Clear {
			switch f {
			case "customer":
				row.Customer = nil
			case "rank":
				row.Rank = nil
			default:
				return false
			}
		}
		for _, f := range s.Remove {
			switch f {
			case "customer":
				row.Customer, kept[0].PK, kept[0].HasPK = nil, "", false
			case "rank":
				row.Rank, kept[0].SK, kept[0].HasSK = nil, "", false
			default:
				return false
			}
		}
		return put(key, row, kept)
	case "delete":
		delete(o.rows, key)
		own[key] = true
		return s.ID != "" && s.Version != ""
	case "wipe":
		o.emptied[s.ID] = true
		for k := range o.rows {
			if k.ID == s.ID {
				delete(o.rows, k)
			}
		}
		return s.ID != ""
	}
	return false
}

// lasts reports whether the row has not expired.
func (o *oracle) lasts(r stored) bool {
	return r.Row.Expires == nil || r.Row.Expires.After(o.watermark)
}

func equal[V comparable](a, b *V) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// indexOf is what the row composes for the index.
func indexOf(row Row) querydb.IndexKey {
	var x querydb.IndexKey
	if row.Customer != nil {
		x.PK, x.HasPK = *row.Customer, true
	}
	if row.Rank != nil {
		sk, err := Model.Indexes[0].SK.Layout.Compose(keys.Int(int64(*row.Rank)))
		if err != nil {
			panic(err)
		}
		x.SK, x.HasSK = sk, true
	}
	return x
}
