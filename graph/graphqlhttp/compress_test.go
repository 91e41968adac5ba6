package graphqlhttp

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
)

// long is a schema whose answers are of a length that the request asks for.
type long struct{ executable }

func (long) Exec(ctx context.Context) graphql.ResponseHandler {
	n, err := strconv.Atoi(graphql.GetOperationContext(ctx).Headers.Get("Length"))
	return func(context.Context) *graphql.Response {
		if err != nil {
			panic(err)
		}
		return &graphql.Response{Data: []byte(`{"hello":"` + strings.Repeat("a", n) + `"}`)}
	}
}

// TestLongAnswersAreCompressedForClientsThatWantIt, and for nobody else; short ones are not, and no cache mixes them
// up.
func TestLongAnswersAreCompressedForClientsThatWantIt(t *testing.T) {
	h := New(long{testSchema}, Config{})
	for _, tt := range []struct {
		accept []string
		length int
		want   bool
	}{
		{nil, 100_000, false},
		{[]string{"gzip"}, 100_000, true},
		{[]string{"gzip"}, 100, false},
		{[]string{"GZIP"}, 100_000, true},
		{[]string{"gzip, deflate, br"}, 100_000, true},
		{[]string{"gzip, deflate, br, zstd"}, 100_000, true},
		{[]string{"zstd, gzip;q=0.5"}, 100_000, true},
		{[]string{"br", "gzip;q=0.5"}, 100_000, true},
		{[]string{"gzip;q=0"}, 100_000, false},
		{[]string{"gzip;q=0.0, *;q=1"}, 100_000, false},
		{[]string{"gzip; q=0.3, identity; q=0.7"}, 100_000, false},
		{[]string{"identity;q=0.3, gzip;q=0.7"}, 100_000, true},
		{[]string{"gzip;q=much"}, 100_000, false},
		{[]string{"gzip;q=NaN"}, 100_000, false},
		{[]string{"br"}, 100_000, false},
		{[]string{"zstd"}, 100_000, false},
		{[]string{""}, 100_000, false},
	} {
		r := post(`{"query":"{ hello }"}`)
		r.Header["Accept-Encoding"] = tt.accept
		r.Header.Set("Length", strconv.Itoa(tt.length))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		// No cache gives a compressed answer to others; one as it is does for everybody.
		switch got := w.Header().Values("Vary"); {
		case tt.want && (len(got) != 1 || got[0] != "Accept-Encoding"), !tt.want && tt.length > 100 && len(got) > 0:
			t.Errorf("%q: Vary is %q", tt.accept, got)
		}
		if got := w.Header().Get("Cache-Control"); got != "no-store" {
			t.Errorf("%q: Cache-Control is %q", tt.accept, got)
		}
		if got := w.Header().Get("Content-Encoding") == "gzip"; got != tt.want {
			t.Errorf("%q, %d bytes: compressed %t, want %t", tt.accept, tt.length, got, tt.want)
			continue
		}
		var body io.Reader = w.Body
		if tt.want {
			if n := w.Body.Len(); n > tt.length/10 || w.Header().Get("Content-Length") != "" {
				t.Errorf("%q: %d bytes are sent of %d, with the length %q", tt.accept, n, tt.length,
					w.Header().Get("Content-Length"))
			}
			var err error
			if body, err = gzip.NewReader(w.Body); err != nil {
				t.Fatal(err)
			}
		}
		text, err := io.ReadAll(body)
		if want := `{"data":{"hello":"` + strings.Repeat("a", tt.length) + `"}}`; err != nil || string(text) != want {
			t.Errorf("%q: the answer is %.60s, %v", tt.accept, text, err)
		}
		if got := w.Header().Get("Content-Type"); got != "application/json; charset=utf-8" {
			t.Errorf("%q: the type is %q", tt.accept, got)
		}
	}
}

func TestCompressionKeepsWhatElseAnAnswerVariesBy(t *testing.T) {
	h := New(long{testSchema}, Config{})
	for accept, want := range map[string]string{"": "Origin", "gzip": "Origin Accept-Encoding"} {
		r := post(`{"query":"{ hello }"}`)
		r.Header.Set("Accept-Encoding", accept)
		r.Header.Set("Length", "5000")
		w := httptest.NewRecorder()
		w.Header().Add("Vary", "Origin")
		h.ServeHTTP(w, r)
		if got := strings.Join(w.Header().Values("Vary"), " "); got != want {
			t.Errorf("%q: Vary is %q, want %q", accept, got, want)
		}
	}
}

func TestCompressionCanBeSwitchedOff(t *testing.T) {
	r := post(`{"query":"{ hello }"}`)
	r.Header.Set("Accept-Encoding", "gzip")
	r.Header.Set("Length", "100000")
	w := httptest.NewRecorder()
	New(long{testSchema}, Config{CompressMinBytes: -1}).ServeHTTP(w, r)
	if w.Header().Get("Content-Encoding") != "" || w.Header().Get("Vary") != "" {
		t.Errorf("the headers are %v", w.Header())
	}
}

// BenchmarkLongAnswer is what an answer of 20 KB costs as it is, and compressed.
func BenchmarkLongAnswer(b *testing.B) {
	h := New(long{testSchema}, Config{})
	for _, accept := range []string{"", "gzip"} {
		b.Run("accept="+accept, func(b *testing.B) {
			const body = `{"query":"{ hello }"}`
			r := post(body)
			r.Header.Set("Length", "20000")
			if accept != "" {
				r.Header.Set("Accept-Encoding", accept)
			}
			w := discard{http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				r.Body = io.NopCloser(strings.NewReader(body))
				h.ServeHTTP(w, r)
			}
		})
	}
}
