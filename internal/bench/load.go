package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// result is what one peer did with one query.
type result struct {
	requests int
	took     time.Duration
	p50, p99 time.Duration
	cpu      time.Duration // of the server, per request
	bytes    int           // of the last answer
}

func (r result) rate() float64 { return float64(r.requests) / r.took.Seconds() }

func (r result) cpuMicroseconds() float64 { return float64(r.cpu) / float64(time.Microsecond) }

// load sends prepared requests over connections that stay open, as fast as they are answered, for a while.
//
// The client writes bytes made beforehand and reads no more of an answer than its length: it shares two cores with the
// server that it measures.
func load(addr string, requests [][]byte, connections int, d time.Duration) (result, error) {
	var (
		wg        sync.WaitGroup
		mu        sync.Mutex
		latencies []time.Duration
		failure   error
		size      int
	)
	begin := time.Now()
	deadline := begin.Add(d)
	for c := range connections {
		wg.Add(1)
		go func() {
			defer wg.Done()
			own, n, err := one(addr, requests, c*len(requests)/connections, deadline)
			mu.Lock()
			defer mu.Unlock()
			latencies = append(latencies, own...)
			size = n
			if err != nil {
				failure = err
			}
		}()
	}
	wg.Wait()
	took := time.Since(begin)
	if failure != nil {
		return result{}, failure
	}
	slices.Sort(latencies)
	r := result{requests: len(latencies), took: took, bytes: size}
	if n := len(latencies); n > 0 {
		r.p50, r.p99 = latencies[n/2], latencies[n*99/100]
	}
	return r, nil
}

// one is a single connection's share of a load.
func one(addr string, requests [][]byte, from int, deadline time.Time) ([]time.Duration, int, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, 0, err
	}
	defer conn.Close()
	r := bufio.NewReaderSize(conn, 64<<10)
	var latencies []time.Duration
	size := 0
	for i := from; time.Now().Before(deadline); i++ {
		begin := time.Now()
		if _, err := conn.Write(requests[i%len(requests)]); err != nil {
			return nil, 0, err
		}
		if size, err = answer(r); err != nil {
			return nil, 0, err
		}
		latencies = append(latencies, time.Since(begin))
	}
	return latencies, size, nil
}

var (
	ok200         = []byte("HTTP/1.1 200")
	contentLength = []byte("Content-Length: ")
	chunked       = []byte("Transfer-Encoding: chunked")
)

// answer reads one response and returns the length of its body.
func answer(r *bufio.Reader) (int, error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if !bytes.HasPrefix(line, ok200) {
		return 0, fmt.Errorf("answer %q", line)
	}
	length, inChunks := -1, false
	for {
		if line, err = r.ReadSlice('\n'); err != nil {
			return 0, err
		}
		if len(line) <= 2 {
			break
		}
		inChunks = inChunks || bytes.HasPrefix(line, chunked)
		if v, ok := bytes.CutPrefix(line, contentLength); ok {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(v))); err != nil {
				return 0, err
			}
		}
	}
	switch {
	case inChunks:
		return chunks(r)
	case length < 0:
		return 0, errors.New("an answer of unknown length")
	}
	_, err = r.Discard(length)
	return length, err
}

// chunks reads a body that comes in chunks and returns its length.
func chunks(r *bufio.Reader) (length int, err error) {
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		n, err := strconv.ParseUint(string(bytes.TrimSpace(line)), 16, 31)
		if err != nil {
			return 0, err
		}
		if _, err := r.Discard(int(n) + len("\r\n")); err != nil {
			return 0, err
		}
		if n == 0 {
			return length, nil
		}
		length += int(n)
	}
}

// fetch sends one prepared request and returns the body of the answer.
func fetch(addr string, request []byte) ([]byte, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if _, err := conn.Write(request); err != nil {
		return nil, err
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", res.Status, body)
	}
	return body, err
}
