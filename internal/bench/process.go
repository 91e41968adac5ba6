package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// peer is a server under measurement, in a process of its own so that its CPU and memory are its own.
type peer struct {
	name string
	addr string
	cmd  *exec.Cmd
}

// startPeer starts the named peer over the data directory, with so much cache.
func startPeer(name, dir string, cacheMB int) (*peer, error) {
	cmd, err := command(name, dir, strconv.Itoa(cacheMB))
	if err != nil {
		return nil, err
	}
	isServer := name == "foldql" || name == "resolvers"
	addr, err := started(cmd, isServer)
	if err != nil {
		return nil, fmt.Errorf("start peer %s: %w", name, err)
	}
	p := &peer{name: name, addr: addr, cmd: cmd}
	if isServer {
		if err := awaitReady(addr); err != nil {
			p.stop()
			return nil, fmt.Errorf("start peer %s: %w", name, err)
		}
	}
	return p, nil
}

// awaitReady returns once the server is ready: it listens before it opens the store, and refuses queries until then.
func awaitReady(addr string) error {
	const patience = time.Minute
	var last error
	for began := time.Now(); time.Since(began) < patience; time.Sleep(10 * time.Millisecond) {
		resp, err := http.Get("http://" + addr + "/readyz")
		if err != nil {
			return err
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err == nil && resp.StatusCode == http.StatusOK {
			return nil
		}
		last = errors.Join(err, fmt.Errorf("it answers %s: %s", resp.Status, body))
	}
	return fmt.Errorf("it was not ready within %s: %w", patience, last)
}

// command is the server itself, or this program again as another peer.
func command(name, dir, cacheMB string) (*exec.Cmd, error) {
	switch name {
	case "foldql":
		return serveCommand(dir, "--cache-mb", cacheMB), nil
	case "resolvers":
		return serveCommand(dir, "--cache-mb", cacheMB, "--no-accelerate"), nil
	}
	self, err := os.Executable()
	return exec.Command(self, "-peer", name, "-data", dir, "-cache", cacheMB), err
}

func serveCommand(dir string, more ...string) *exec.Cmd {
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--store", "embedded:" + dir,
		"--auth=off", "--no-playground"}, more...)
	if _, err := os.Stat(eventsOf(dir)); err == nil { // else they are in the log beside the rows
		args = append(args, "--events", "file:"+eventsOf(dir))
	}
	return exec.Command(serverOf(dir), args...)
}

// started starts the command and returns the address that it says it listens at: the server in its log, the others in
// their first line.
func started(cmd *exec.Cmd, logs bool) (addr string, err error) {
	pipe := cmd.StdoutPipe
	if logs {
		pipe = cmd.StderrPipe
	} else {
		cmd.Stderr = os.Stderr
	}
	out, err := pipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	lines := bufio.NewScanner(out)
	var said []string
	for addr == "" && lines.Scan() {
		said = append(said, lines.Text())
		addr = lines.Text()
		if logs {
			addr = listening(lines.Bytes())
		}
	}
	if addr == "" {
		return "", fmt.Errorf("it ended before it listened: %w: %s", cmd.Wait(), strings.Join(said, "\n"))
	}
	go func() { _, _ = io.Copy(io.Discard, out) }() // so that it never waits for a reader
	return addr, nil
}

// listening returns the address of the log's line that has it, "" for another line.
func listening(line []byte) string {
	var said struct{ Msg, Addr string }
	if json.Unmarshal(line, &said) != nil || said.Msg != "listening" {
		return ""
	}
	return said.Addr
}

// stop ends the peer and waits for its end, so that the next one can open the store.
func (p *peer) stop() {
	_ = p.cmd.Process.Signal(os.Interrupt)
	_ = p.cmd.Wait()
}

// tick is the unit of CPU time in /proc; Linux has always shown 100 a second.
const tick = 10 * time.Millisecond

// cpu returns the CPU time that the peer has used, user and system.
func (p *peer) cpu() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(stat), ") ") // the name may hold anything but this
	fields := strings.Fields(after)
	user, err := strconv.Atoi(fields[11])
	if err != nil {
		return 0, err
	}
	system, err := strconv.Atoi(fields[12])
	return time.Duration(user+system) * tick, err
}

// peakMB returns the largest resident memory that the peer had, in MB.
func (p *peer) peakMB() (int, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if kb, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, err := strconv.Atoi(strings.Fields(kb)[0])
			return n / 1024, err
		}
	}
	return 0, fmt.Errorf("no VmHWM in the status of peer %s", p.name)
}
