package projection

import (
	"errors"
	"fmt"
	"slices"

	"github.com/foldql/foldql/projection/internal/fold"
)

// A projection whose code is wrong makes dead letters of all events, and looks healthy. So it stops where too large a share
// of the events that it has come to last in a partition has had no effect: they failed, or are blocked by one that did, as
// all later events of few subjects are. Each event has a number there, which the checkpoint has of the last one and a dead
// letter of its own: what stops a projection is the same after a restart, whatever the windows and the clock, and a dead
// letter that is retried or skipped counts no more. Events that need a row which is not there, and those that they block,
// say nothing of the code, and may wait for another partition: they have no number.
const (
	recentEvents = 1000 // the share is one of so many events, or of fewer in a shorter log
	fewFailures  = 100  // with fewer dead letters among them, no projection stops
	everyFailure = 100  // the share, in percent, that nothing exceeds
)

// numberOf is the number of an event that has failed, 0 where it has none. A retry changes nothing about it.
func (r *Runner) numberOf(out *outcome, it *item, why error) uint64 {
	switch {
	case it.released:
		return r.asides.all[refOf(it.event)]
	case errors.Is(why, fold.ErrNoRow):
		return 0
	}
	return out.tried + 1
}

// bound returns the StopError of a projection that must not make another dead letter, nil where it may. An event that
// was retried in an earlier fold is decided already, and none to stop at.
func (r *Runner) bound(out *outcome, it *item, number uint64, why error) *StopError {
	if number == 0 || it.released || it.replayed {
		return nil
	}
	letters, among, exceeded := r.exceeds(out.partition, out.failed, number)
	if !exceeded {
		return nil
	}
	stop := newStop(it.event,
		fmt.Sprintf("%d of the last %d events that the projection came to in partition %q have failed or are blocked, more "+
			"than %d %%, this one with: %s", letters, among, out.partition, r.cfg.MaxDeadLetters, shortened(why.Error())),
		"correct the code, restart, and retry the dead letters; or raise the bound (RunnerConfig.MaxDeadLetters, "+
			"--max-dead-letters) and restart; or skip the event")
	stop.number = number
	return stop
}

// exceeds reports whether the event with the number would be one dead letter too many, beside those that there are and
// those of a commit in hand.
func (r *Runner) exceeds(partition string, inHand []uint64, number uint64) (letters int, among uint64, exceeded bool) {
	letters = 1 + recent(r.asides.failed[partition], number) + recent(inHand, number)
	among = min(number, recentEvents)
	exceeded = r.cfg.MaxDeadLetters < everyFailure && letters >= fewFailures &&
		uint64(letters)*100 > uint64(r.cfg.MaxDeadLetters)*among
	return letters, among, exceeded
}

// recent counts the ascending numbers that are among the last events up to the one with the number n.
func recent(numbers []uint64, n uint64) int {
	from, _ := slices.BinarySearch(numbers, n-min(n, recentEvents)+1)
	to, _ := slices.BinarySearch(numbers, n+1)
	return to - from
}
