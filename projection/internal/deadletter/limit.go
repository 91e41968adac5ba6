package deadletter

import "slices"

// A projection whose code is wrong makes dead letters of all events, and looks healthy. So it stops where too large a
// share of the events that it has come to last in a partition has had no effect: they failed, or are blocked by one
// that did, as all later events of few subjects are. Each event has a number there, which the checkpoint has of the
// last one and a dead letter of its own: what stops a projection is the same after a restart, whatever the windows
// and the clock, and a dead letter that is retried or skipped counts no more. Events that need a row which is not
// there, and those that they block, say nothing of the code, and may wait for another partition: they have no number.
const (
	recentEvents = 1000 // the share is one of so many events, or of fewer in a shorter log
	fewFailures  = 100  // with fewer dead letters among them, no projection stops
	NoLimit      = 100  // the share, in percent, that nothing exceeds
)

// Limit is the share of recent events, in percent, that may be dead letters.
type Limit int

// Exceeded reports whether the event with the number would be one dead letter too many of its partition, beside those
// that there are and those of a commit in hand.
func (l Limit) Exceeded(a *Index, partition string, inHand []uint64, number uint64) (letters int, among uint64,
	exceeded bool) {
	letters = 1 + recent(a.failed[partition], number) + recent(inHand, number)
	among = min(number, recentEvents)
	exceeded = l < NoLimit && letters >= fewFailures && uint64(letters)*100 > uint64(l)*among
	return letters, among, exceeded
}

// recent counts the ascending numbers that are among the last events up to the one with the number n.
func recent(numbers []uint64, n uint64) int {
	from, _ := slices.BinarySearch(numbers, n-min(n, recentEvents)+1)
	to, _ := slices.BinarySearch(numbers, n+1)
	return to - from
}
