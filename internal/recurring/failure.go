// Package recurring says which failures of what is tried again and again are news: a line for each would fill a log,
// and hide the others in it.
package recurring

import (
	"strings"
	"sync"
	"time"
)

const (
	// interval is how long a reason is known that has been news.
	interval = time.Minute
	// mostReasons is how many are news in an interval.
	mostReasons = 20
)

// Failure is that of something that is tried until it succeeds. Several goroutines may use it.
type Failure struct {
	mu    sync.Mutex
	since time.Time       // the interval
	known map[string]bool // reasons that were news in it
	told  bool            // there was news since it has succeeded
}

// IsNews reports whether a failure is to be logged: its reason was not in the last minute, also where it has succeeded
// since. Numbers and identifiers, as of requests and ports, make no other reason.
func (f *Failure) IsNews(now time.Time, err error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if age := now.Sub(f.since); f.known == nil || age >= interval || age < 0 {
		f.since, f.known = now, map[string]bool{}
	}
	reason := gist(err.Error())
	if f.known[reason] || len(f.known) == mostReasons {
		return false
	}
	f.known[reason], f.told = true, true
	return true
}

// Ends says that it has succeeded, and reports whether that is to be logged: a failure was, since it succeeded before.
func (f *Failure) Ends() (isNews bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	isNews, f.told = f.told, false
	return isNews
}

// gist is a text without the words that have digits.
func gist(text string) string {
	var words []string
	for word := range strings.FieldsSeq(text) {
		if !strings.ContainsAny(word, "0123456789") {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}
