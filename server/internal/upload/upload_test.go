package upload

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/foldql/foldql/server/internal/client"
)

// TestEventsAreAppendedWhereTheServerSaysSoOfEach: another service, or a proxy, may answer anything.
func TestEventsAreAppendedWhereTheServerSaysSoOfEach(t *testing.T) {
	for answer, appended := range map[string]bool{
		`{}`:                            false,
		`{"appended":[{"offset":1}]}`:   false,
		`{"appended":[{},{},{}]}`:       false,
		`{"appended":[{},{}]}`:          true,
		`{"appended":[],"status":"ok"}`: false,
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, answer)
		}))
		defer srv.Close()
		to, err := (&client.Server{URL: srv.URL}).Client()
		if err != nil {
			t.Fatal(err)
		}
		two := strings.Repeat(`{"specversion":"1.0","id":"x","source":"/s","type":"T","data":{}}`+"\n", 2)
		u := &Upload{Options: Options{Batch: 10, Attempts: 2}, File: "-", MaxEvent: 1000, Stdin: strings.NewReader(two),
			Stderr: io.Discard, To: to, Verb: "append", Done: "appended"}
		if err := u.Run(t.Context()); (err == nil) != appended {
			t.Errorf("answered %s: %v", answer, err)
		}
	}
}

// TestAnUploadWarnsOfFieldsThatAreNotDeclared, once for all of its requests.
func TestAnUploadWarnsOfFieldsThatAreNotDeclared(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"appended":[{}],"undeclared":[{"type":"T","field":"data.nmae","events":1}]}`)
	}))
	defer srv.Close()
	to, err := (&client.Server{URL: srv.URL}).Client()
	if err != nil {
		t.Fatal(err)
	}
	two := strings.Repeat(`{"specversion":"1.0","id":"x","source":"/s","type":"T","data":{}}`+"\n", 2)
	var told strings.Builder
	u := &Upload{Options: Options{Batch: 1, Attempts: 1}, File: "-", MaxEvent: 1000, Stdin: strings.NewReader(two),
		Stderr: &told, To: to, Verb: "append", Done: "appended"}
	if err := u.Run(t.Context()); err != nil || !strings.Contains(told.String(), `: "data.nmae" of T (in 2 events). `) {
		t.Errorf("error %v; it says %q", err, told.String())
	}
}

// TestAnUploadSaysOfTheLastLinesToo whether they are taken, where lines before them are.
func TestAnUploadSaysOfTheLastLinesToo(t *testing.T) {
	asked := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked > 1 {
			w.WriteHeader(500)
			return
		}
		_, _ = io.WriteString(w, `{"appended":[{}]}`)
	}))
	defer srv.Close()
	to, err := (&client.Server{URL: srv.URL}).Client()
	if err != nil {
		t.Fatal(err)
	}
	two := strings.Repeat(`{"specversion":"1.0","id":"x","source":"/s","type":"T","data":{}}`+"\n", 2)
	u := &Upload{Options: Options{Batch: 1, Attempts: 1}, File: "-", MaxEvent: 1000, Stdin: strings.NewReader(two),
		Stderr: io.Discard, To: to, Verb: "import", Done: "imported"}
	const want = "; the lines before 2 are imported, and whether line 2 is, is not known. Repeat"
	if err := u.Run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

// TestNothingIsSaidOfLinesBeforeTheFirst: there are none. Of a request that got no answer nobody knows what became, nor
// of one that failed, unless the answer says so.
func TestNothingIsSaidOfLinesBeforeTheFirst(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	failing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }))
	defer failing.Close()
	full := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInsufficientStorage)
		_, _ = io.WriteString(w, `{"detail":"The disk is full.","nothingDone":true}`)
	}))
	defer full.Close()
	one := `{"specversion":"1.0","id":"x","source":"/s","type":"T","data":{}}` + "\n"
	const again = ". Repeat the command when that is over: events that are there already change nothing"
	for url, want := range map[string]string{gone.URL: "; nothing is imported" + again,
		failing.URL: "; whether line 1 is imported is not known" + again,
		full.URL:    "the server answered 507: The disk is full.; nothing is imported" + again} {
		to, err := (&client.Server{URL: url}).Client()
		if err != nil {
			t.Fatal(err)
		}
		u := &Upload{Options: Options{Batch: 10, Attempts: 1}, File: "-", MaxEvent: 1000, Stdin: strings.NewReader(one),
			Stderr: io.Discard, To: to, Verb: "import", Done: "imported"}
		if err := u.Run(t.Context()); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: error %v, want %q in the end", url, err, want)
		}
	}
}
