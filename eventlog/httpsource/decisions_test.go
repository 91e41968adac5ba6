package httpsource_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog/httpsource"
)

// decided are decisions of one projection, the numbers from 1 on.
type decided struct {
	mu sync.Mutex
	n  int
}

func (d *decided) decide(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.n = n
}

func (d *decided) Tags(context.Context) (map[string]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return map[string]string{"Tasks": strconv.Itoa(d.n)}, nil
}

func (d *decided) List(_ context.Context, projection, after string, limit int) (all []json.RawMessage, last string,
	err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	from := 0
	if after != "" {
		if from, err = strconv.Atoi(after); err != nil {
			return nil, "", httpsource.ErrNoSuchDecision
		}
	}
	for n := from + 1; projection == "Tasks" && n <= d.n; n++ {
		if len(all) == limit {
			return all, last, nil
		}
		all, last = append(all, json.RawMessage(strconv.Itoa(n))), strconv.Itoa(n)
	}
	return all, "", nil
}

func following(t testing.TB, h http.Handler) httpsource.Following {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return httpsource.Following{Source: open(t, s.URL)}
}

func giving(d httpsource.Decisions) http.Handler {
	h := &httpsource.Handler{Decisions: d, Logger: slog.New(slog.DiscardHandler)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+httpsource.DecisionsPath, h.ListDecisions)
	mux.HandleFunc("GET "+httpsource.DecisionsWaitPath, h.WaitForDecisions)
	return mux
}

// TestDecisionsAreListedWholeHoweverManyThereAre, each once and in order.
func TestDecisionsAreListedWholeHoweverManyThereAre(t *testing.T) {
	for _, n := range []int{0, 1, 500, 501, 1234} {
		f := following(t, giving(&decided{n: n}))
		var got, want []string
		for i := range n {
			want = append(want, strconv.Itoa(i+1))
		}
		err := f.Each(t.Context(), "Tasks", func(page []json.RawMessage) error {
			for _, d := range page {
				got = append(got, string(d))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%d decisions (-want +got):\n%s", n, diff)
		}
	}
}

// TestAWaitForDecisionsEndsWhenSomethingIsDecided, and at once for who knows of none.
func TestAWaitForDecisionsEndsWhenSomethingIsDecided(t *testing.T) {
	d := &decided{n: 1}
	f := following(t, giving(d))
	known, err := f.Tags(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if tags, err := f.Tags(short, known); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a wait while nothing is decided: %v, %v", tags, err)
	}
	d.decide(2)
	now, err := f.Tags(t.Context(), known)
	if err != nil || now["Tasks"] != "2" {
		t.Errorf("a wait when something was decided: %v, %v", now, err)
	}
}

// TestAServerOfAnEarlierVersionGivesNoDecisions and says so by what it does not know.
func TestAServerOfAnEarlierVersionGivesNoDecisions(t *testing.T) {
	f := following(t, http.NotFoundHandler())
	if _, err := f.Tags(t.Context(), nil); !errors.Is(err, httpsource.ErrNoDecisions) {
		t.Errorf("tags: %v, want ErrNoDecisions", err)
	}
	err := f.Each(t.Context(), "Tasks", func([]json.RawMessage) error { return nil })
	if !errors.Is(err, httpsource.ErrNoDecisions) {
		t.Errorf("list: %v, want ErrNoDecisions", err)
	}
}

// TestAnAnswerWithoutEndIsRefused: a server that names the same decision as the last again and again.
func TestAnAnswerWithoutEndIsRefused(t *testing.T) {
	for _, answer := range []string{
		`{"decisions":[1],"last":"1"}`, `{"decisions":[],"last":"1"}`,
		fmt.Sprintf(`{"decisions":[1],"last":"%01000d"}`, 1),
	} {
		f := following(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) }))
		if err := f.Each(t.Context(), "Tasks", func([]json.RawMessage) error { return nil }); err == nil {
			t.Errorf("%s is taken for a list that ends", answer)
		}
	}
}

// answers are those of a server, by the path that is asked for.
type answers func(path string) []byte

// RoundTrip implements http.RoundTripper.
func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	_, err := w.Write(a(r.URL.Path))
	return w.Result(), err
}

// answeredBy reads decisions from what answers without a network, so that a fuzzed answer takes the same way each time.
func answeredBy(t testing.TB, a answers) httpsource.Following {
	t.Helper()
	s, err := httpsource.Open(httpsource.Options{URL: "http://server", Client: &http.Client{Transport: a}})
	if err != nil {
		t.Fatal(err)
	}
	return httpsource.Following{Source: s}
}

// FuzzAnswersAboutDecisions: whatever a server answers is refused, or a list that ends and tags of a bounded size.
func FuzzAnswersAboutDecisions(f *testing.F) {
	for _, text := range []string{
		`{"tags":{"Tasks":"1"}}`, `{"decisions":[{"partition":"0"}]}`, `{"decisions":[1,2],"last":"2"}`, `{}`, `null`, ``, `[`,
	} {
		f.Add([]byte(text))
	}
	var answer []byte
	first := true
	from := answeredBy(f, func(path string) []byte {
		if first || path == httpsource.DecisionsWaitPath {
			first = false
			return answer
		}
		return []byte(`{"decisions":[]}`)
	})
	f.Fuzz(func(t *testing.T, text []byte) {
		answer, first = text, true
		n := 0
		err := from.Each(t.Context(), "Tasks", func(page []json.RawMessage) error {
			for _, d := range page {
				if n++; !json.Valid(d) {
					t.Errorf("%q is given as a decision", d)
				}
			}
			return nil
		})
		if err == nil && !json.Valid(text) {
			t.Errorf("%q is taken for an answer", text)
		}
		if tags, err := from.Tags(t.Context(), nil); err == nil && tags == nil {
			t.Errorf("%q has neither tags nor an error", text)
		}
	})
}
