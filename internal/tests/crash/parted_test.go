package crash

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// A log with several partitions, which servers fold side by side: a row gets a copy in one of them while the source of
// the copy changes in another. Rows must not hang on how partitions take turns, so branches keep their first name, and
// tariffs whose copies do not follow each change keep their first price, as some copies are to stay what they were; the
// events of a row have it for their subject, so that none overtakes one that waits for its branch; and there is no
// event that cannot be folded, which would hold back those behind it for good. After a while other rows take the place
// of each, so that a wrong copy is not put right by the next change.

// partedEvents are such events: of owners that change all the time, and of cards and homes that have copies of them.
func partedEvents(rng *rand.Rand) ([]string, error) {
	w := &writer{rng: rng, now: time.Now().UTC().Truncate(time.Hour), bySubject: true,
		there: map[string]bool{}, kept: map[string]int{}}
	for i := range branches {
		w.nameBranch(fmt.Sprint("b", i))
	}
	w.setTariffs()
	for w.gone = range 300 + rng.IntN(1500) {
		if rng.IntN(10) < 3 {
			w.stirOwner()
		} else {
			w.copied()
		}
	}
	return w.lines, nil
}

// possible reports whether an event of the type can be folded: whether the row of the subject is there, except where
// the event makes it.
func (w *writer) possible(kind, subject string) bool {
	switch kind {
	case "CardIssued", "HomeFormed", "PlanTaken":
		w.there[subject] = true
	case "CardReturned", "HomeLeft", "PlanEnded":
		was := w.there[subject]
		w.there[subject] = false
		return was
	case "CardUsed", "KeyGiven", "KeyLost", "HomeRenamed", "BoxFilled", "BoxShared", "BoxTaken", "PlanRenamed":
		return w.there[subject]
	}
	return true
}

// writeParted writes the log into a file for each partition. All events of a subject are in one.
func writeParted(dir string, lines []string, partitions int) error {
	parts := make([][]string, partitions)
	for _, line := range lines {
		var e struct{ Subject string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return err
		}
		at := partitionOf(e.Subject, partitions)
		parts[at] = append(parts[at], line)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	var errs []error
	for i, part := range parts {
		errs = append(errs, writeLines(filepath.Join(dir, fmt.Sprintf("p%d.jsonl", i)), part))
	}
	return errors.Join(errs...)
}

// partitionOf is the number of the partition that has the events of a subject.
func partitionOf(subject string, partitions int) int {
	h := fnv.New32a()
	h.Write([]byte(subject))
	return int(h.Sum32() % uint32(partitions))
}
