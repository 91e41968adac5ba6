package crash

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foldql/foldql/internal/tests/registryevents"
)

const (
	registry = "../../../examples/registry"
	// kills is how often a run is killed.
	kills = 20
	batch = 200 // events per request
)

// TestKilledServerKeepsEveryRowAndPosition appends the registry's events over HTTP to a server that is killed at random
// moments and started again, and compares its stores with those of a server that ran undisturbed.
//
// CRASH_SEEDS says how many runs, by the score; CRASH_SEED repeats one.
func TestKilledServerKeepsEveryRowAndPosition(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for about a minute")
	}
	bin := subjects(t)[registryAt].bin
	batches, events := readBatches(t)
	if raceDetector && count(t, "CRASH_SEEDS", 0) == 0 { // it takes ten times as long
		batches = batches[:len(batches)/6]
		events = uint64(len(batches) * batch)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()

	// Every run begins with the same store of one batch: the secret that a server draws when it makes one, and the order
	// in which its tables got their numbers, are not what we compare.
	fresh := t.TempDir()
	p := start(t, bin, fresh)
	feed(t, func() string { return p.url }, batches[:1], nil)
	p.caughtUp(ctx, t, batch)
	p.stop(t)

	undisturbed := copied(t, fresh)
	p = start(t, bin, undisturbed)
	feed(t, func() string { return p.url }, batches, nil)
	p.caughtUp(ctx, t, events)
	p.stop(t)
	want := dump(t, undisturbed)

	const share = 20 // of the seeds that are asked for, since a run takes long
	for run := range max(1, count(t, "CRASH_SEEDS", 1)/share) {
		seed := uint64(time.Now().UnixNano()) + uint64(run)
		if s := count(t, "CRASH_SEED", 0); s != 0 {
			seed = uint64(s)
		}
		t.Logf("seed %d: CRASH_SEED=%d repeats it", seed, seed)
		dir := copied(t, fresh)
		disturb(t, bin, dir, batches, events, rand.New(rand.NewPCG(seed, 0)))
		compare(t, dump(t, dir), want)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d keys and values equal after %d kills a run", len(want), kills)
}

// copied returns a copy of a data directory.
func copied(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// disturb feeds a server while killing it, and ends when the last one has caught up and stopped.
func disturb(t *testing.T, bin, dir string, batches [][]byte, events uint64, rnd *rand.Rand) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()

	var url atomic.Value
	p := start(t, bin, dir)
	url.Store(p.url)
	progress := make(chan struct{}, len(batches))
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		feed(t, func() string { return url.Load().(string) }, batches, progress)
	}()
	for range kills {
		// A kill comes after some more batches were accepted, a moment that is random within one; the last kills hit a
		// server that only folds what it has.
		for range rnd.IntN(2*len(batches)/kills + 1) {
			select {
			case <-progress:
			case <-fed:
			}
		}
		time.Sleep(time.Duration(rnd.IntN(60_000)) * time.Microsecond) // where in a batch the kill falls
		p.kill()
		p = start(t, bin, dir)
		url.Store(p.url)
	}
	<-fed
	p.caughtUp(ctx, t, events)
	p.stop(t)
}

// feed appends the batches, each until it is accepted, and reads what it has written; a server that is away is asked
// again.
func feed(t *testing.T, url func() string, batches [][]byte, progress chan<- struct{}) {
	client := &http.Client{Timeout: 30 * time.Second}
	written := releases{}
	for i, body := range batches {
		for position := ""; ; {
			res, err := client.Post(url()+"/events", "application/cloudevents-batch+json", bytes.NewReader(body))
			if err == nil {
				accepted := res.StatusCode/100 == 2
				if accepted {
					acknowledged(t, res.Body, uint64(i*batch))
					position = res.Header.Get("Foldql-Position")
				}
				_ = res.Body.Close()
				if accepted {
					written.read(t, client, url, body, position)
					break
				}
				if res.StatusCode/100 == 4 {
					t.Errorf("batch %d refused: %s", i, res.Status)
					return
				}
			}
			if t.Context().Err() != nil {
				return
			}
			time.Sleep(5 * time.Millisecond) // the server is being started again
		}
		if progress != nil {
			progress <- struct{}{}
		}
	}
}

// acknowledged fails the test unless the answer tells of events that stand behind the offset, in order; the log that is
// compared in the end has each there.
func acknowledged(t *testing.T, body io.Reader, after uint64) {
	var answer struct{ Appended []struct{ Offset uint64 } }
	if err := json.NewDecoder(body).Decode(&answer); err != nil {
		return // cut off by a kill; the client got no answer
	}
	for i, at := range answer.Appended {
		if want := after + uint64(i) + 1; at.Offset != want {
			t.Errorf("event %d is acknowledged at offset %d", want, at.Offset)
			return
		}
	}
}

// readBatches returns the registry's events as bodies of requests, and their number.
func readBatches(t *testing.T) (batches [][]byte, events uint64) {
	t.Helper()
	f, err := os.Open(registryevents.File(registry))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	flush := func() {
		if body.Len() > 0 {
			batches = append(batches, append(bytes.Clone(body.Bytes()), ']'))
			body.Reset()
		}
	}
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		events++
		if body.Len() == 0 {
			body.WriteByte('[')
		} else {
			body.WriteByte(',')
		}
		body.Write(lines.Bytes())
		if events%batch == 0 {
			flush()
		}
	}
	flush()
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return batches, events
}

func count(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s=%q is not a number", name, text)
	}
	return n
}
