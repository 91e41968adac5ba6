package natssource

import "time"

// SetClock has the source tell the time by another clock.
func (s *Source) SetClock(now func() time.Time) { s.stream.clock = now }
