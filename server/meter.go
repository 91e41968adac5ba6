package server

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// meter shows how far something has come: a bar on a terminal, a line now and then elsewhere.
type meter struct {
	total uint64 // events, 0 where nobody knows
	// every is the time between two lines; 5 s where it is 0.
	every time.Duration

	out  io.Writer
	verb string
	bar  *progressbar.ProgressBar
	now  func() time.Time

	mu         sync.Mutex
	began      time.Time
	first, pos uint64
	said       time.Time
}

func (m *meter) start(out io.Writer, verb string) {
	m.out, m.verb = out, verb
	if m.every == 0 {
		m.every = 5 * time.Second
	}
	if m.now == nil {
		m.now = time.Now
	}
	m.began = m.now()
	m.said = m.began
	if t := terminal(out); t != nil {
		total := int64(m.total)
		if total == 0 {
			total = -1
		}
		m.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(t), progressbar.OptionSetDescription(verb),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("events"),
			progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish())
	}
}

// at says that the event at the position is done.
func (m *meter) at(pos uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pos = pos
	if m.bar != nil {
		_ = m.bar.Set64(int64(pos)) // a bar that cannot be drawn must not stop what it is about
		return
	}
	if now := m.now(); now.Sub(m.said) >= m.every {
		m.said = now
		fmt.Fprintln(m.out, m.line(now))
	}
}

// from says where it begins, so that what was done before does not count for the rate.
func (m *meter) from(pos uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.first, m.pos = pos, pos
}

// stop shows where it ended.
func (m *meter) stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bar != nil {
		_ = m.bar.Finish() // as above
	}
	fmt.Fprintln(m.out, m.line(m.now()))
}

// line is "appended 1000 of 5000 events (20%), 2000/s, 2s left".
func (m *meter) line(now time.Time) string {
	took := now.Sub(m.began).Seconds()
	rate := 0.0
	if took > 0 {
		rate = float64(m.pos-m.first) / took
	}
	switch {
	case m.total == 0:
		return fmt.Sprintf("%s %d events, %.0f/s", m.verb, m.pos, rate)
	case m.pos >= m.total || rate == 0:
		return fmt.Sprintf("%s %d of %d events (%d%%), %.0f/s", m.verb, m.pos, m.total, m.pos*100/m.total, rate)
	}
	left := time.Duration(float64(m.total-m.pos) / rate * float64(time.Second)).Round(time.Second)
	return fmt.Sprintf("%s %d of %d events (%d%%), %.0f/s, %s left", m.verb, m.pos, m.total, m.pos*100/m.total, rate, left)
}
