package hostile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// What a live server is held to while one client does its worst: the memory that docs/operations.md says it aims at by
// default, all told.
const (
	mostResident = 576 << 20
	mostPatience = time.Second
)

// TestALiveServerBearsWhoExhaustsIt runs the program that is shipped, at its own settings, plays every attack that is
// known at it, one after another and then all at once, and has an innocent client ask meanwhile: each of its answers is
// right, and memory stays in bounds. HOSTILE_LIVE=full attacks longer, and holds the innocent client's slowest answer
// to a second, too.
func TestALiveServerBearsWhoExhaustsIt(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("memory is measured as Linux tells it")
	}
	full := os.Getenv("HOSTILE_LIVE") == "full"
	s := startLive(t)
	s.attackFor, s.attackers = time.Second, 8
	if full {
		s.attackFor = 10 * time.Second
	}
	s.prepare(t, full)
	var worst time.Duration
	all := func() {
		s.attackers = 2
		var each sync.WaitGroup
		for _, a := range attacks {
			each.Go(func() { a.play(s) })
		}
		each.Wait()
	}
	for _, a := range append(slices.Clone(attacks), attack{"all at once", func(*live) { all() }}) {
		i := s.innocent()
		began := time.Now()
		a.play(s)
		i.stop()
		if i.err != nil {
			t.Fatalf("%s: the innocent client: %v\n%s", a.name, i.err, s.said())
		}
		t.Logf("%-28s %7s: %6d innocent answers, the slowest in %6s, %d asked for again; %3d MB in memory at most", a.name,
			time.Since(began).Round(time.Millisecond), i.answers, i.slowest.Round(time.Millisecond), i.again, s.peak(t)>>20)
		worst = max(worst, i.slowest)
	}
	if peak := s.peak(t); peak > mostResident {
		t.Errorf("the server took %d MB of memory, at most %d may it take", peak>>20, mostResident>>20)
	}
	if full && worst > mostPatience {
		t.Errorf("an innocent client waited %s for an answer, at most %s may it wait", worst, mostPatience)
	}
	s.check(t)
}

// live is a server in a process of its own.
type live struct {
	cmd       *exec.Cmd
	url, addr string
	attackFor time.Duration
	attackers int // who do the same at a time
	large     int // products whose rows are large
	log       *tail
	client    *http.Client // of attackers
}

// tail keeps the end of what a process says.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (w *tail) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, p...)
	if n := len(w.text); n > 64<<10 {
		w.text = slices.Clone(w.text[n-16<<10:])
	}
	return len(p), nil
}

func (s *live) said() string {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return string(s.log.text[max(0, len(s.log.text)-4000):])
}

// startLive builds the server, without the race detector, which takes memory of its own, and starts it.
func startLive(t *testing.T, args ...string) *live {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "server")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "./cmd/server")
	build.Dir = "../../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the server: %v\n%s", err, out)
	}
	s := &live{log: &tail{}, client: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: 30 * time.Second,
	}}
	s.cmd = exec.Command(bin, append([]string{
		"serve", "--listen", "127.0.0.1:0", "--auth=off", "--sample", "--log-format", "json", "--store", "embedded:" +
			t.TempDir(),
	}, args...)...)
	s.cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "FOLDQL_") || strings.HasPrefix(v, "GOMEMLIMIT=") || strings.HasPrefix(v, "GOGC=")
	})
	out, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(io.TeeReader(out, s.log))
	t.Cleanup(func() {
		s.client.CloseIdleConnections()
		_ = s.cmd.Process.Kill() // it has been asked all that it is to be asked
		_, _ = io.Copy(io.Discard, lines)
		_ = s.cmd.Wait()
	})
	for s.addr == "" {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatalf("the server ended before it listened:\n%s", s.said())
		}
		var entry struct{ Msg, Addr string }
		if json.Unmarshal(line, &entry) == nil && entry.Msg == "listening" {
			s.addr, s.url = entry.Addr, "http://"+entry.Addr
		}
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }() // ends with the process
	return s
}

// peak is how much of the process has been in memory at most, by what the system tells.
func (s *live) peak(t *testing.T) uint64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		t.Fatalf("the server is gone: %v\n%s", err, s.said())
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kb << 10
		}
	}
	t.Fatal("the system does not tell how much memory a process has taken")
	return 0
}

// prepare appends large rows, and waits until all is folded.
func (s *live) prepare(t *testing.T, full bool) {
	t.Helper()
	s.large = 400
	if full {
		s.large = 1000
	}
	name := strings.Repeat("large ", 40_000/6)
	for done := 0; done < s.large; done += 50 {
		var batch []string
		for i := done; i < done+50; i++ {
			batch = append(batch,
				fmt.Sprintf(`{"specversion":"1.0","id":"large-%d","source":"/hostile","type":"ProductAdded","subject":"large-%d",`+
					`"data":{"productId":"large-%d","category":"large","brand":"b","name":%q,"price":1,"addedAt":"2024-01-01T00:00:00Z"}}`, i, i, i, name))
		}
		if status, body := s.events(strings.NewReader("[" + strings.Join(batch, ",") + "]")); status != http.StatusCreated {
			t.Fatalf("large products: %d %s", status, body)
		}
	}
	s.until(t, "the large products are folded", func() bool {
		_, body := s.graphql(fmt.Sprintf(`{ Sales_Product(id: "large-%d") { productId } }`, s.large-1))
		return strings.Contains(body, fmt.Sprintf(`"large-%d"`, s.large-1))
	})
}

func (s *live) until(t *testing.T, what string, so func() bool) {
	t.Helper()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for late := time.After(time.Minute); !so(); {
		select {
		case <-look.C:
		case <-late:
			t.Fatalf("it never happened: %s\n%s", what, s.said())
		}
	}
}

// events posts a batch of events; the status is 0 where there was no answer.
func (s *live) events(body io.Reader) (status int, answer string) {
	return s.post("/events", "application/cloudevents-batch+json", body)
}

func (s *live) graphql(document string) (status int, answer string) {
	body, err := json.Marshal(map[string]string{"query": document})
	if err != nil {
		panic(err) // texts have a JSON form
	}
	return s.post("/graphql", "application/json", bytes.NewReader(body))
}

func (s *live) post(path, mediaType string, body io.Reader) (status int, answer string) {
	resp, err := s.client.Post(s.url+path, mediaType, body)
	if err != nil {
		return 0, err.Error()
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	_, _ = io.Copy(io.Discard, resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(text)
}

// innocent is a client that asks one small thing again and again.
type innocent struct {
	end     chan struct{}
	done    chan struct{}
	slowest time.Duration
	answers int
	again   int // its connection was closed, and it asked again
	err     error
}

// question is what the innocent client asks, and right how it is to be answered, whatever others do.
const (
	question = `{"query":"{ Sales_Order(id: \"order-1\") { orderId customer { customerId } products { productId } } }"}`
	right    = `{"data":{"Sales_Order":{"orderId":"order-1","customer":{"customerId":"cust-`
)

func (s *live) innocent() *innocent {
	i := &innocent{end: make(chan struct{}), done: make(chan struct{})}
	client := &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}
	go func() {
		defer close(i.done)
		defer client.CloseIdleConnections()
		pace := time.NewTicker(10 * time.Millisecond)
		defer pace.Stop()
		for i.err == nil {
			began := time.Now()
			err := s.ask(client)
			i.slowest = max(i.slowest, time.Since(began))
			switch {
			// On a slow machine its first request takes so long that its connection gives way to another.
			case i.again < 100 && (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)):
				i.again++
			case err != nil:
				i.err = err
			default:
				i.answers++
			}
			select {
			case <-pace.C:
			case <-i.end:
				if i.answers > 0 {
					return
				}
			}
		}
	}()
	return i
}

func (s *live) ask(client *http.Client) error {
	resp, err := client.Post(s.url+"/graphql", "application/json", strings.NewReader(question))
	if err != nil {
		return err
	}
	text, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(string(text), right) ||
		strings.Contains(string(text), "errors") {
		return fmt.Errorf("it is answered %d %.500s", resp.StatusCode, text)
	}
	return nil
}

func (i *innocent) stop() {
	close(i.end)
	<-i.done
}
