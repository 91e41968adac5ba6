package graphqlhttp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/internal/slowclient"
	"github.com/foldql/foldql/querydb/driver"
)

// TestMemoryIsGivenBack, whatever many requests do with it at once, and it is never more than there is.
func TestMemoryIsGivenBack(t *testing.T) {
	m := NewMemoryBudget(8 << 20)
	var requests sync.WaitGroup
	for i := range 64 {
		requests.Go(func() {
			b := newBudget(m, 1<<20)
			defer b.end()
			for range i * 20 {
				if err := b.Take(1000); err != nil {
					break
				}
				if m.Used() > 8<<20+64*takeBytes {
					t.Error("more is taken than there is")
				}
			}
			b.keep(int64(i) * 1000)
		})
	}
	requests.Wait()
	if n := m.Used(); n != 0 {
		t.Errorf("%d bytes are not given back", n)
	}
}

func TestARequestMayReadSoMuch(t *testing.T) {
	b := newBudget(NewMemoryBudget(1<<30), 1<<20)
	defer b.end()
	for range 10 {
		if err := b.Take(100_000); err != nil {
			t.Fatal(err)
		}
	}
	err := b.Take(100_000)
	if graphqlerr.CodeOf(err) != graphqlerr.LimitExceeded || !strings.Contains(err.Error(), "more than 1048576 bytes") {
		t.Errorf("error %v", err)
	}
}

// TestWhatIsGivenBackMayBeReadAgain: a read that has to begin again holds nothing of what it had.
func TestWhatIsGivenBackMayBeReadAgain(t *testing.T) {
	m := NewMemoryBudget(4 << 20)
	b := newBudget(m, 1<<20)
	defer b.end()
	for _, bytes := range []int{1 << 20, -1 << 20, 1 << 20} {
		if err := b.Take(bytes); err != nil {
			t.Fatal(err)
		}
	}
	if used := m.Used(); used > 1<<20 {
		t.Errorf("%d bytes of memory are taken for a mebibyte of rows", used)
	}
}

// TestASmallRequestNeedsNoMemory: it is answered while large ones have all there is.
func TestASmallRequestNeedsNoMemory(t *testing.T) {
	m := NewMemoryBudget(1 << 20)
	large := newBudget(m, 1<<30)
	defer large.end()
	if err := large.Hold(1 << 20); err != nil {
		t.Fatal(err)
	}
	small, other := newBudget(m, 1<<20), newBudget(m, 1<<20)
	if err := small.Take(freeBytes); err != nil {
		t.Errorf("a small request: %v", err)
	}
	if err := other.Take(freeBytes + 1); graphqlerr.CodeOf(err) != graphqlerr.Unavailable || !other.refused.Load() {
		t.Errorf("another large request: %v", err)
	}
	large.keep(0)
	if err := newBudget(m, 1<<20).Take(freeBytes + 1); err != nil {
		t.Errorf("another large request, when the first is answered: %v", err)
	}
	if small.end(); small.Take(1) == nil {
		t.Error("what is read after the end counts for nobody")
	}
}

// reading is a schema whose field "hello" reads so many bytes and answers with so many.
func reading(rows, bytes int, then func()) executable {
	return executable{fields: map[string]func(ctx context.Context, args map[string]any) (any, error){
		"hello": func(ctx context.Context, _ map[string]any) (any, error) {
			for range rows {
				if err := driver.Charge(driver.BudgetOf(ctx), 1000); err != nil {
					return nil, err
				}
			}
			if then != nil {
				then()
			}
			return strings.Repeat("x", bytes), nil
		},
	}}
}

func TestARequestThatReadsTooMuchIsOverALimit(t *testing.T) {
	got := query(t, New(reading(2000, 1, nil), Config{MaxReadBytes: 1 << 20}), "{ hello }", "")
	if got.status != http.StatusOK || got.code() != "LIMIT_EXCEEDED" {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestARequestThatPassesOverTooMuchIsOverALimit, though it takes no memory for that.
func TestARequestThatPassesOverTooMuchIsOverALimit(t *testing.T) {
	m := NewMemoryBudget(freeBytes)
	h := New(executable{fields: map[string]func(ctx context.Context, args map[string]any) (any, error){
		"hello": func(ctx context.Context, _ map[string]any) (any, error) {
			if err := driver.Pass(ctx, 1, 1<<19); err != nil {
				t.Errorf("what may be passed over: %v", err)
			}
			return "", driver.Pass(ctx, 1, 1<<19)
		},
	}}, Config{MaxReadBytes: 1 << 20, Memory: m})
	if got := query(t, h, "{ hello }", ""); got.status != http.StatusOK || got.code() != "LIMIT_EXCEEDED" {
		t.Errorf("%d %s", got.status, got.body)
	}
	if used := m.Used(); used != 0 {
		t.Errorf("%d bytes of memory are taken", used)
	}
}

// TestWhatIsTooMuchForAllTogetherIsToBeAskedAgain: 503, with when, and everything is given back.
func TestWhatIsTooMuchForAllTogetherIsToBeAskedAgain(t *testing.T) {
	m := NewMemoryBudget(1 << 20)
	other := New(reading(600, 1, nil), Config{Memory: m})
	var inner reply
	h := New(reading(600, 1, func() { inner = query(t, other, "{ hello }", "") }), Config{Memory: m})
	if got := query(t, h, "{ hello }", ""); got.status != http.StatusOK || got.code() != "" {
		t.Errorf("the first: %d %s", got.status, got.body)
	}
	if inner.status != http.StatusServiceUnavailable || inner.code() != "UNAVAILABLE" ||
		inner.header.Get("Retry-After") != "1" {
		t.Errorf("the second meanwhile: %d %v %s", inner.status, inner.header, inner.body)
	}
	if got := query(t, other, "{ hello }", ""); got.code() != "" {
		t.Errorf("the second afterwards: %s", got.body)
	}
	if m.Used() != 0 || m.Refused() != 1 {
		t.Errorf("%d bytes are taken, %d requests were refused", m.Used(), m.Refused())
	}
}

func TestBodiesCount(t *testing.T) {
	m := NewMemoryBudget(1 << 20)
	giveBack, ok := m.Reserve(1 << 20)
	if !ok {
		t.Fatal("there is no memory")
	}
	h := New(testSchema, Config{Memory: m})
	if got := query(t, h, "{ hello }"+strings.Repeat(" ", 100_000), ""); got.status != http.StatusServiceUnavailable {
		t.Errorf("a large body: %d %s", got.status, got.body)
	}
	if got := query(t, h, "{ hello }"+strings.Repeat(" ", 10_000), ""); got.status != http.StatusOK {
		t.Errorf("a small body: %d %s", got.status, got.body)
	}
	giveBack()
	if got := query(t, h, "{ hello }"+strings.Repeat(" ", 100_000), ""); got.status != http.StatusOK {
		t.Errorf("a large body afterwards: %d %s", got.status, got.body)
	}
}

// TestWhoDoesNotSendIsRefused, and holds no memory then.
func TestWhoDoesNotSendIsRefused(t *testing.T) {
	m := NewMemoryBudget(64 << 20)
	srv := httptest.NewServer(New(testSchema, Config{Memory: m, ReadTimeout: 50 * time.Millisecond}))
	defer srv.Close()
	client, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	_, err = fmt.Fprintf(client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: 1000000\r\n\r\n%s",
		jsonType, strings.Repeat(" ", 30_000))
	if err := errors.Join(err, client.SetReadDeadline(time.Now().Add(20*time.Second))); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(client), nil)
	if err != nil {
		t.Fatalf("%v; %d bytes are held for a client that does not send", err, m.Used())
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusRequestTimeout || !resp.Close || m.Used() > 0 {
		t.Errorf("status %d, connection ended: %v, %d bytes held; want 408, the end of the connection, and none",
			resp.StatusCode, resp.Close, m.Used())
	}
}

// deadlines is an answer that remembers until when the body of its request was to be read.
type deadlines struct {
	*httptest.ResponseRecorder
	set []time.Time
}

func (d *deadlines) SetReadDeadline(at time.Time) error {
	d.set = append(d.set, at)
	return nil
}

// TestASmallBodyHasTheReadTimeoutFromTheHeaderOn alone where the server bounds bodies, however they come in pieces.
func TestASmallBodyHasTheReadTimeoutFromTheHeaderOn(t *testing.T) {
	w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	r := httptest.NewRequest(http.MethodPost, "/", iotest.OneByteReader(strings.NewReader(`{"query": "{ hello }"}`)))
	r.Header.Set("Content-Type", jsonType)
	slowclient.BoundBodies(time.Minute, New(testSchema, Config{ReadTimeout: time.Minute})).ServeHTTP(w, r)
	if w.Code != http.StatusOK || len(w.set) != 2 || w.set[0].IsZero() || !w.set[1].IsZero() {
		t.Errorf("status %d, and the deadlines %v were set; want 200, one deadline, and none after the body", w.Code, w.set)
	}
}

// TestWhoDoesNotReadIsCutOff, and holds no memory then.
func TestWhoDoesNotReadIsCutOff(t *testing.T) {
	m := NewMemoryBudget(64 << 20)
	srv := httptest.NewServer(New(reading(1, 30<<20, nil), Config{Memory: m, WriteTimeout: 50 * time.Millisecond,
		CompressMinBytes: -1}))
	defer srv.Close()
	body, w := io.Pipe()
	go func() {
		_, _ = fmt.Fprint(w, `{"query":"{ hello }"}`)
		_ = w.Close()
	}()
	resp, err := http.Post(srv.URL, jsonType, body)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for late := time.After(20 * time.Second); m.Used() > 0; {
		select {
		case <-look.C:
		case <-late:
			t.Fatalf("%d bytes are held for a client that does not read", m.Used())
		}
	}
	if _, err := io.Copy(io.Discard, resp.Body); err == nil {
		t.Error("the answer came whole")
	}
}

// TestALargeAnswerToWhoReadsIsWhole, and the connection serves on.
func TestALargeAnswerToWhoReadsIsWhole(t *testing.T) {
	m := NewMemoryBudget(64 << 20)
	srv := httptest.NewServer(New(reading(1, 10<<20, nil), Config{Memory: m}))
	defer srv.Close()
	for range 2 {
		resp, err := srv.Client().Post(srv.URL, jsonType, strings.NewReader(`{"query":"{ hello }"}`))
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		if err := errors.Join(err, resp.Body.Close()); err != nil || n < 10<<20 {
			t.Fatalf("%d bytes, error %v", n, err)
		}
	}
}
