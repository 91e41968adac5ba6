package verifier

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// Answer is what a server answered while it was disturbed: rows with all fields of the model, in the order of the
// model.
type Answer struct {
	Question string
	Model    string
	// ID says which row was asked for, where a plain fold says what it was.
	ID string
	// Partition of the table that all rows were asked of; "" where they were asked of an index.
	Partition string
	// After is a checkpoint that was durable before the question was asked; the answer must not be older.
	After uint64
	Rows  []json.RawMessage
	// OneMoment says that the rows must be those of one moment, as a store answers that reads them at once.
	OneMoment bool
}

// written is one write of a row.
type written struct {
	key keys.Key
	at  driver.Position
	rec record.Record // nil for a delete
}

// version is a partition, or a row, from one write on to the next.
type version struct {
	at   driver.Position
	text string
}

// answers verifies what servers answered by the fold in memory: each answer must be what some prefix of the events
// makes, and none that is shorter than what was durable.
func (c *comparison) answers(ctx context.Context, p Project, events string, list []Answer) error {
	for _, m := range p.Models {
		h := newHistory(m, c.recorded.writes(m.Table))
		var doubtful []*Answer
		for i := range list {
			switch a := &list[i]; {
			case a.Model != m.Name:
			case a.ID != "":
				c.plainAnswer(a)
			default:
				c.verdict.Answers++
				if h.wrong(a) != "" {
					doubtful = append(doubtful, a)
				}
			}
		}
		if len(doubtful) == 0 {
			continue
		}
		wrong, err := c.besides(ctx, p, events, m, doubtful)
		if err != nil {
			return err
		}
		for _, a := range wrong {
			c.differ("%s, asked when the checkpoint was %d, was answered %s", a.Question, a.After, h.wrong(a))
		}
	}
	return nil
}

// wrong is what is wrong with an answer: it is what there was at no time since the checkpoint; "" where it is right.
func (h *history) wrong(a *Answer) string {
	if a.Partition != "" && a.OneMoment {
		if page := "[" + strings.Join(texts(a.Rows), ",") + "]"; !held(h.partition(a.Partition), a.After, page) {
			return "as at no time since: " + page
		}
		return ""
	}
	for _, row := range texts(a.Rows) {
		if !slices.ContainsFunc(h.states[row], func(until driver.Position) bool { return outlasts(until, a.After) }) {
			return "with a row that there was at no time since: " + row
		}
	}
	return ""
}

// outlasts reports whether a row that was there until the position may have been there when the checkpoint was durable
// already: at the checkpoint itself, what follows the event is a retry that may have been still to come.
func outlasts(until driver.Position, checkpoint uint64) bool {
	return until == driver.Position{} || until.Offset > checkpoint || until.Offset == checkpoint && until.Step > 0
}

func texts(rows []json.RawMessage) []string {
	all := make([]string, len(rows))
	for i, r := range rows {
		all[i] = string(r)
	}
	return all
}

// held reports whether one of the versions since the checkpoint reads so. Before the first there was nothing.
func held(versions []version, after uint64, text string) bool {
	return slices.ContainsFunc(since(versions, after), func(v version) bool { return v.text == text })
}

// since are the versions from the checkpoint on, the one that held then first.
func since(versions []version, after uint64) []version {
	first := 0
	for i, v := range versions {
		if v.at.Offset < after || v.at.Offset == after && v.at.Step == 0 {
			first = i + 1
		}
	}
	if first == 0 {
		return append([]version{{text: "[]"}}, versions...)
	}
	return versions[first-1:]
}

// history is what the rows of a model were, one event after another.
type history struct {
	model  *querydb.Model
	writes []written
	// states are the rows that ever were, and until when; the zero position is for ever.
	states     map[string][]driver.Position
	partitions map[string][]version
}

func newHistory(m *querydb.Model, writes []written) *history {
	h := &history{model: m, writes: writes, states: map[string][]driver.Position{}, partitions: map[string][]version{}}
	last := map[keys.Key]string{}
	for _, w := range writes {
		if was := last[w.key]; was != "" {
			h.states[was] = append(h.states[was], w.at)
		}
		last[w.key] = ""
		if w.rec != nil {
			last[w.key] = h.render(w.rec)
		}
	}
	for _, text := range last {
		if text != "" {
			h.states[text] = append(h.states[text], driver.Position{})
		}
	}
	return h
}

// partition are the versions of a partition, each a list of rows in their order.
func (h *history) partition(pk string) []version {
	if all, known := h.partitions[pk]; known {
		return all
	}
	var all []version
	rows := map[keys.Key]string{}
	for _, w := range h.writes {
		if w.key.PK != pk {
			continue
		}
		if delete(rows, w.key); w.rec != nil {
			rows[w.key] = h.render(w.rec)
		}
		if n := len(all); n > 0 && all[n-1].at == w.at { // of the same event
			all = all[:n-1]
		}
		all = append(all, version{w.at, page(rows)})
	}
	h.partitions[pk] = all
	return all
}

func page(rows map[keys.Key]string) string {
	var list []string
	for _, k := range slices.SortedFunc(maps.Keys(rows), func(a, b keys.Key) int { return cmp.Compare(a.SK, b.SK) }) {
		list = append(list, rows[k])
	}
	return "[" + strings.Join(list, ",") + "]"
}

// render is the row as the API answers with it.
func (h *history) render(rec record.Record) string { return rendered(h.model, rec) }
