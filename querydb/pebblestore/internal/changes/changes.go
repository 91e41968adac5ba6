// Package changes counts the changes of keys, so that it can be told of many of them at once whether any has changed.
package changes

import "sync/atomic"

// Counts count the changes of keys, of which many share a count: so a key may seem to have changed that has not, and
// never the reverse.
type Counts [1 << atBits]atomic.Uint64

const atBits = 16

// Now is what the count of a key is now, to be compared by Same later. Whoever is about to read what is under the key
// asks first.
func (c *Counts) Now(hash uint64) (seen uint64) {
	at := hash % uint64(len(c))
	return c[at].Load()<<atBits | at
}

// Changed counts a change of a key, once readers find it.
func (c *Counts) Changed(hash uint64) { c[hash%uint64(len(c))].Add(1) }

// Same reports whether none of the keys has changed since Now has told their counts.
func (c *Counts) Same(seen []uint64) bool {
	for _, s := range seen {
		if at := s % uint64(len(c)); c[at].Load()<<atBits|at != s {
			return false
		}
	}
	return true
}
