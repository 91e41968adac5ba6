package disk

import "time"

// Flushes and compactions write tables for as long as there is work for them. The runtime of Go looks for what has come
// from the network when a processor has nothing else to do, and else every 10 ms: where a fold and a compaction keep
// two processors at work, a query waits for as long before anybody knows of it. So who writes a table rests for a
// moment, again and again.
const (
	workBetweenRests = time.Millisecond
	restTime         = 50 * time.Microsecond
)

// rest rests where a table has been written for long enough.
func (f *file) rest() {
	if !f.table || time.Since(f.rested) < workBetweenRests {
		return
	}
	time.Sleep(restTime)
	f.rested = time.Now()
}
