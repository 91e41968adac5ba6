// Package progress shows how far a command has come: a bar on a terminal, a line now and then elsewhere.
package progress

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/foldql/foldql/server/internal/plural"
)

// Meter shows how far something has come: a bar on a terminal, a line now and then elsewhere.
type Meter struct {
	Total uint64 // events, 0 where nobody knows
	// every is the time between two lines; 5 s where it is 0.
	every time.Duration

	out  io.Writer
	verb string
	bar  *progressbar.ProgressBar
	Now  func() time.Time

	mu         sync.Mutex
	began      time.Time
	first, pos uint64
	said       time.Time
}

// Start begins to show how far it is: on a terminal by a bar, elsewhere by lines. The verb says what is done to events,
// such as "folded". Total is to be set before.
func (m *Meter) Start(out io.Writer, verb string) {
	m.out, m.verb = out, verb
	if m.every == 0 {
		m.every = 5 * time.Second
	}
	if m.Now == nil {
		m.Now = time.Now
	}
	m.began = m.Now()
	m.said = m.began
	if t := Terminal(out); t != nil {
		total := int64(m.Total)
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

// At says that the event at the position is done.
func (m *Meter) At(pos uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pos = pos
	if m.bar != nil {
		_ = m.bar.Set64(int64(pos)) // a bar that cannot be drawn must not stop what it is about
		return
	}
	if now := m.Now(); now.Sub(m.said) >= m.every {
		m.said = now
		fmt.Fprintln(m.out, m.line(now))
	}
}

// From says where it begins, so that what was done before does not count for the rate.
func (m *Meter) From(pos uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.first, m.pos = pos, pos
}

// Stop shows where it ended.
func (m *Meter) Stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bar != nil {
		_ = m.bar.Finish() // as above
	}
	fmt.Fprintln(m.out, m.line(m.Now()))
}

// line is "appended 1000 of 5000 events (20%), 2000/s, 2s left".
func (m *Meter) line(now time.Time) string {
	took := now.Sub(m.began).Seconds()
	rate := 0.0
	if took > 0 {
		rate = float64(m.pos-m.first) / took
	}
	so := fmt.Sprintf("%s %d of %s", m.verb, m.pos, plural.Count(m.Total, "event"))
	switch {
	case m.Total == 0:
		return fmt.Sprintf("%s %s, %.0f/s", m.verb, plural.Count(m.pos, "event"), rate)
	case m.pos >= m.Total || rate == 0:
		return fmt.Sprintf("%s (%d%%), %.0f/s", so, m.pos*100/m.Total, rate)
	}
	left := time.Duration(float64(m.Total-m.pos) / rate * float64(time.Second)).Round(time.Second)
	return fmt.Sprintf("%s (%d%%), %.0f/s, %s left", so, m.pos*100/m.Total, rate, left)
}
