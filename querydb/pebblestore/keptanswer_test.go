package pebblestore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// lasting is a table of which no row expires.
func lasting() *driver.Table {
	t := *listed
	t.NoExpiry = true
	return &t
}

// question is what an answer is made of: reads that follow one another.
type question struct {
	key   string
	reads []func(ctx context.Context, noCache bool) string
}

// read reads the answer, or what the engine has for it.
func (q *question) read(ctx context.Context, noCache bool) string {
	var all []string
	for _, r := range q.reads {
		all = append(all, r(ctx, noCache))
	}
	return strings.Join(all, " ")
}

// ask finds the answer, or reads it, and has it kept where it was asked for before. hit says that it was found.
func (q *question) ask(ctx context.Context, s *Store) (answer string, hit bool) {
	found, again := s.FindAnswer(q.key)
	if found != nil {
		return string(found), true
	}
	if !again {
		return q.read(ctx, false), false
	}
	var trace driver.Trace
	answer = q.read(driver.WithTrace(ctx, &trace), false)
	s.KeepAnswer(q.key, []byte(answer), &trace)
	return answer, false
}

// drawQuestion draws reads of rows, records and pages.
func drawQuestion(t *testing.T, s *Store, table *driver.Table, i int, random *rand.Rand, text func() string) question {
	q := question{key: fmt.Sprint("question ", i)}
	for range 1 + random.IntN(3) {
		ks := make([]keys.Key, 1+random.IntN(3))
		for i := range ks {
			ks[i] = keys.Key{PK: text(), SK: text()}
		}
		get := driver.Get{Table: table, Keys: ks}
		page := driver.Query{Table: table, Index: random.IntN(2) - 1, PK: text(), Limit: 1 + random.IntN(4),
			Reverse: random.IntN(2) == 0}
		q.reads = append(q.reads, [...]func(context.Context, bool) string{
			func(ctx context.Context, noCache bool) string {
				asked := get
				asked.NoCache = noCache
				rows, err := s.Get(ctx, asked)
				if err != nil {
					t.Error(err)
				}
				return fmt.Sprint(numbersOf(t, driver.Page{Rows: rows}))
			},
			func(ctx context.Context, noCache bool) string {
				asked, recs := get, make([]record.Record, len(ks))
				asked.NoCache = noCache
				if err := s.Records(ctx, asked, recs); err != nil {
					t.Error(err)
				}
				return fmt.Sprintf("%q", recs)
			},
			func(ctx context.Context, noCache bool) string {
				asked := page
				asked.NoCache = noCache
				found, err := s.Query(ctx, asked)
				if err != nil {
					t.Error(err)
				}
				return fmt.Sprint(numbersOf(t, found))
			},
			func(ctx context.Context, noCache bool) string {
				asked := page
				asked.NoCache = noCache
				lent, err := s.Lend(ctx, asked)
				if err != nil {
					t.Error(err)
					return ""
				}
				defer lent.GiveBack()
				return fmt.Sprint(numbersOf(t, *lent.Page()))
			},
		}[random.IntN(4)])
	}
	return q
}

// TestAnswersFromMemoryAreThoseOfTheEngine after any history of writes: questions are asked again and again between
// them.
func TestAnswersFromMemoryAreThoseOfTheEngine(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	s, table := openCached(t, Options{}), lasting()
	texts := []string{"a", "a\x00", "a\x00\x01", "b", "b\xff"}
	text := func() string { return texts[random.IntN(len(texts))] }
	questions := make([]question, 30)
	for i := range questions {
		questions[i] = drawQuestion(t, s, table, i, random, text)
	}
	for range FewerIfRaced(2000) {
		k := keys.Key{PK: text(), SK: text()}
		write := driver.Write{Table: table, Kind: driver.Put, Row: member(k, random.Uint64N(100), text())}
		switch random.IntN(8) {
		case 0:
			write = driver.Write{Table: table, Kind: driver.Delete, Row: driver.Row{Key: k}}
		case 1:
			write = driver.Write{Table: table, Kind: driver.DeletePartition, Row: driver.Row{Key: keys.Key{PK: k.PK}}}
		case 2:
			write.Row = member(k, random.Uint64N(100), "")
		}
		applyAll(t, s, write)
		for range 8 {
			q := &questions[random.IntN(len(questions))]
			got, hit := q.ask(t.Context(), s)
			if want := q.read(t.Context(), true); got != want {
				t.Fatalf("%s, from memory: %t: %s, want %s", q.key, hit, got, want)
			}
		}
	}
	if hits := s.CacheStats().AnswerHits; hits < 500 {
		t.Errorf("%d answers were found: the test proves little", hits)
	}
}

// TestAnAnswerThatWasReadBeforeACommitIsNotGivenAfterIt: its rows are read, a commit changes one of them, or makes one
// that was missing, and only then the answer is kept.
func TestAnAnswerThatWasReadBeforeACommitIsNotGivenAfterIt(t *testing.T) {
	table, there, missing := lasting(), keys.Key{PK: "p", SK: "a"}, keys.Key{PK: "p", SK: "b"}
	for name, change := range map[string]driver.Row{
		"a row changes": member(there, 2, "g"), "a row leaves the page": member(there, 1, ""),
		"a row is made": member(missing, 2, ""), "a row comes to the page": member(missing, 2, "g"),
	} {
		t.Run(name, func(t *testing.T) {
			s := openCached(t, Options{})
			applyAll(t, s, driver.Write{Table: table, Kind: driver.Put, Row: member(there, 1, "g")})
			var trace driver.Trace
			ctx := driver.WithTrace(t.Context(), &trace)
			if _, err := s.Get(ctx, driver.Get{Table: table, Keys: []keys.Key{there, missing}}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Query(ctx, driver.Query{Table: table, PK: "g", Limit: 10}); err != nil {
				t.Fatal(err)
			}
			s.KeepAnswer("before", []byte("kept"), &trace)
			if answer, _ := s.FindAnswer("before"); string(answer) != "kept" {
				t.Fatalf("%q is kept", answer)
			}
			applyAll(t, s, driver.Write{Table: table, Kind: driver.Put, Row: member(keys.Key{PK: "other"}, 1, "other")})
			if answer, _ := s.FindAnswer("before"); string(answer) != "kept" {
				t.Errorf("%q is kept when other rows have changed", answer)
			}
			applyAll(t, s, driver.Write{Table: table, Kind: driver.Put, Row: change})
			s.KeepAnswer("after", []byte("old"), &trace)
			for _, key := range []string{"before", "after"} {
				if answer, _ := s.FindAnswer(key); answer != nil {
					t.Errorf("kept %s the commit, %q is given", key, answer)
				}
			}
		})
	}
}

// TestAnswersAreOfOneMomentAndNeverOld: commits write all rows of a table at once, and answers read some of them one
// after another. What is given from memory is of one commit, and no earlier than the last that was acknowledged.
func TestAnswersAreOfOneMomentAndNeverOld(t *testing.T) {
	s, table := openCached(t, Options{}), lasting()
	all := make([]keys.Key, 20)
	for i := range all {
		all[i] = keys.Key{PK: fmt.Sprint(i % 7), SK: fmt.Sprint(i)}
	}
	commit := func(n uint64) {
		var writes []driver.Write
		for _, k := range all {
			writes = append(writes, driver.Write{Table: table, Kind: driver.Put, Row: member(k, n, "g")})
		}
		applyAll(t, s, writes...)
	}
	commit(1)
	besideReaders(t, 400, commit, func(random *rand.Rand, least uint64) {
		some := random.IntN(len(all))
		q := question{key: fmt.Sprint(some)}
		for _, k := range []keys.Key{all[some], all[(some+5)%len(all)]} {
			q.reads = append(q.reads, func(ctx context.Context, _ bool) string {
				rows, err := s.Get(ctx, driver.Get{Table: table, Keys: []keys.Key{k}})
				if err != nil {
					t.Error(err)
					return ""
				}
				return fmt.Sprint(numberOf(t, &rows[0]))
			})
		}
		for range 4 { // again and again, so that it is kept
			answer, hit := q.ask(t.Context(), s)
			var one, two uint64
			if _, err := fmt.Sscan(answer, &one, &two); err != nil {
				t.Errorf("%q: %v", answer, err)
			}
			if min(one, two) < least || hit && one != two {
				t.Errorf("from memory: %t: %d and %d, and %d was acknowledged", hit, one, two, least)
			}
		}
	})
	if hits := s.CacheStats().AnswerHits; hits == 0 {
		t.Error("no answer was found: the test proves nothing")
	}
}

// TestAnswersThatHangOnTheTimeAreNotKept: rows of the table may expire, or nobody has written to it.
func TestAnswersThatHangOnTheTimeAreNotKept(t *testing.T) {
	s, never := openCached(t, Options{}), lasting()
	never.Name = "Never"
	applyAll(t, s, put(member(keys.Key{PK: "p", SK: "a"}, 1, "g")))
	for _, table := range []*driver.Table{listed, never} {
		var trace driver.Trace
		get := driver.Get{Table: table, Keys: []keys.Key{{PK: "p", SK: "a"}}}
		if _, err := s.Get(driver.WithTrace(t.Context(), &trace), get); err != nil {
			t.Fatal(err)
		}
		s.KeepAnswer(table.Name, []byte("answer"), &trace)
		if answer, _ := s.FindAnswer(table.Name); answer != nil {
			t.Errorf("an answer of %s is kept", table.Name)
		}
	}
}

// TestNoAnswerIsOlderThanARowThatWasRead: whoever has read what a commit has written gets no answer of before.
func TestNoAnswerIsOlderThanARowThatWasRead(t *testing.T) {
	s, table := openCached(t, Options{}), lasting()
	all := make([]keys.Key, 300) // so that it takes a while until all of them are counted
	for i := range all {
		all[i] = keys.Key{PK: "p", SK: fmt.Sprint(1000 + i)}
	}
	commit := func(n uint64) {
		var writes []driver.Write
		for _, k := range all {
			writes = append(writes, driver.Write{Table: table, Kind: driver.Put, Row: member(k, n, "")})
		}
		applyAll(t, s, writes...)
	}
	commit(1)
	read := func(k keys.Key) func(context.Context, bool) string {
		return func(ctx context.Context, noCache bool) string {
			rows, err := s.Get(ctx, driver.Get{Table: table, Keys: []keys.Key{k}, NoCache: noCache})
			if err != nil {
				t.Error(err)
				return "0"
			}
			return fmt.Sprint(numberOf(t, &rows[0]))
		}
	}
	besideReaders(t, uint64(FewerIfRaced(400)), commit, func(random *rand.Rand, _ uint64) {
		i := random.IntN(len(all))
		q := question{key: fmt.Sprint(i), reads: []func(context.Context, bool) string{read(all[i])}}
		var before, now uint64
		_, err := fmt.Sscan(read(all[random.IntN(len(all))])(t.Context(), true), &before)
		answer, hit := q.ask(t.Context(), s)
		if _, too := fmt.Sscan(answer, &now); err != nil || too != nil || now < before {
			t.Errorf("from memory: %t: %d, and %d was read before, %v, %v", hit, now, before, err, too)
		}
	})
	if hits := s.CacheStats().AnswerHits; hits == 0 {
		t.Error("no answer was found: the test proves nothing")
	}
}

// TestAnswersOfACollectionInWhichAMemberExpiresAreNotKept: its rows are in the page of another that does not.
func TestAnswersOfACollectionInWhichAMemberExpiresAreNotKept(t *testing.T) {
	s, one, other := openCached(t, Options{}), lasting(), *listed
	one.Kind, other.Kind = "one", "other"
	applyAll(t, s, driver.Write{Table: one, Kind: driver.Put, Row: member(keys.Key{PK: "p", SK: "a"}, 1, "g")})
	for want, members := range map[bool][]*driver.Table{true: {one}, false: {one, &other}} {
		var trace driver.Trace
		_, err := s.Query(driver.WithTrace(t.Context(), &trace),
			driver.Query{Table: one, Members: members, PK: "g", Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		s.KeepAnswer("answer", []byte("{}"), &trace)
		if answer, _ := s.FindAnswer("answer"); (answer != nil) != want {
			t.Errorf("%d members: %q is kept, want one: %t", len(members), answer, want)
		}
		applyAll(t, s, driver.Write{Table: one, Kind: driver.Put, Row: member(keys.Key{PK: "p", SK: "a"}, 2, "g")})
	}
}

// TestAnAnswerIsCopiedWhereItIsKeptAlone: it may be large, and whoever has made it may change it.
func TestAnAnswerIsCopiedWhereItIsKeptAlone(t *testing.T) {
	s := openCached(t, Options{})
	var good, broken driver.Trace
	broken.Break()
	answer, large := []byte("{}"), make([]byte, mostPageBytes)
	for name, keep := range map[string]func(){
		"it is too large":        func() { s.KeepAnswer("answer", large, &good) },
		"it depends on the time": func() { s.KeepAnswer("answer", answer, &broken) },
		"a commit takes effect": func() {
			s.rows.takingEffect.Add(1)
			s.KeepAnswer("answer", answer, &good)
			s.rows.takingEffect.Add(-1)
		},
	} {
		if n := testing.AllocsPerRun(1000, keep); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	s.KeepAnswer("answer", answer, &good)
	clear(answer)
	if kept, _ := s.FindAnswer("answer"); string(kept) != "{}" {
		t.Errorf("%q is kept", kept)
	}
}
