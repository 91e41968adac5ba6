package crash

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"time"
)

// A crowd is thousands of cards of one branch: each change of that is a cascade to all of them, and takes so long that
// servers are struck amid it.

// crowdSize is about how many cards there are: few where nobody asks for many trials and the race detector makes each
// take ten times as long.
func crowdSize() int {
	if raceDetector && os.Getenv("CRASH_SEEDS") == "" {
		return 200
	}
	return 5000
}

// crowdEvents issue the cards, and change the branch, owners and cards then.
func crowdEvents(rng *rand.Rand) ([]string, error) {
	w := &writer{rng: rng, now: time.Now().UTC().Truncate(time.Hour)}
	for i := range branches {
		w.nameBranch(fmt.Sprint("b", i))
	}
	for i := range owners {
		w.nameOwner(fmt.Sprint("o", i))
	}
	size := crowdSize()
	n := size*9/10 + rng.IntN(size/5)
	for i := range n {
		w.issueOf("b0", fmt.Sprint("k", i))
		if rng.IntN(size/3) == 0 {
			w.stir()
		}
	}
	for range 10 + rng.IntN(60) {
		w.stir()
		for range rng.IntN(4) {
			w.jostle(fmt.Sprint("k", rng.IntN(n)))
		}
	}
	return w.lines, nil
}

// issueOf issues a card. Few have a holder, so that more of them are in one commit.
func (w *writer) issueOf(branch, card string) {
	d := data{"card": card, "branch": branch}
	if w.rng.IntN(8) == 0 {
		d["holder"] = w.owner()
	}
	w.write("CardIssued", w.row(card), d)
}

// jostle changes a card to which cascades come.
func (w *writer) jostle(card string) {
	switch w.rng.IntN(4) {
	case 0:
		w.write("CardReturned", w.row(card), data{"card": card})
	case 1:
		w.write("CardUsed", w.row(card), data{"card": card})
	default:
		w.issueOf(w.branch(), card)
	}
}

// crowdAsks draws a question about a card of the crowd, or about another row.
func crowdAsks(rng *rand.Rand, _ []string) ask {
	if rng.IntN(2) == 0 {
		return copiedAsks(rng)
	}
	return cardAsk(fmt.Sprint("k", rng.IntN(crowdSize())))
}

// amidCascade waits until a server has come to some place in the log, and has copies that are yet to follow then; for
// no longer than there is anything left to do, or some time.
func (tr *trial) amidCascade(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	part, place, known := tr.rng.Float64(), uint64(0), false
	for ctx.Err() == nil {
		for _, s := range tr.slots {
			all, err := statuses(ctx, s.p.url, "")
			if err != nil {
				continue // it is slow, or has ended
			}
			tr.asker.told(all)
			at, end := covered(all), uint64(len(tr.lines))
			if !known {
				place, known = at+uint64(part*float64(end-min(at, end))), true
			}
			if folded(all, end) || at >= place && tr.asker.amid() {
				return
			}
		}
		time.Sleep(2 * time.Millisecond) // the next look
	}
}

// covered is how many events of a log with one partition all projections have folded.
func covered(all []status) uint64 {
	least := uint64(math.MaxUint64)
	for _, p := range all {
		if len(p.Partitions) == 0 {
			return 0 // it has not begun
		}
		for _, at := range p.Partitions {
			least = min(least, at.Checkpoint)
		}
	}
	return least
}
