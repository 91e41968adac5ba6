package httpsource

import "time"

// SetRest sets how long nothing is asked of a server whose events have ended.
func (s *Source) SetRest(d time.Duration) { s.rest = d }
