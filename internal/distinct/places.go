// Package distinct finds values again that were seen before, among the few hundred that a request reads. For values
// that are long to hash and to copy it takes less than a map does: they stay in the list of whoever has it.
package distinct

import (
	"hash/maphash"

	"github.com/foldql/foldql/keys"
)

// Places says where in a list each value is, by the hashes of the values. The zero value knows none.
type Places struct {
	slots []slot // a power of two of them, of which at least a quarter are free
	count int
}

// slot is a value: its hash, and its place in the list and one; 0 where there is none.
type slot struct{ hash, place uint32 }

const leastSlots = 32

// Add returns the place of a value with the hash. equal compares the value with the one at a place of the list. Where
// it is at none, next is noted as its place, and returned.
func (p *Places) Add(hash uint32, next int, equal func(place int) bool) (place int) {
	if p.count >= len(p.slots)/4*3 {
		p.grow()
	}
	s := p.find(hash, equal)
	if s.place == 0 {
		*s = slot{hash, uint32(next) + 1}
		p.count++
	}
	return int(s.place) - 1
}

// find returns the slot of the value, or the one where it is to be.
func (p *Places) find(hash uint32, equal func(place int) bool) *slot {
	mask := uint32(len(p.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := &p.slots[i]
		if s.place == 0 || s.hash == hash && equal(int(s.place)-1) {
			return s
		}
	}
}

func (p *Places) grow() {
	former := p.slots
	p.slots = make([]slot, max(2*len(former), leastSlots))
	differs := func(int) bool { return false }
	for _, s := range former {
		if s.place != 0 {
			*p.find(s.hash, differs) = s
		}
	}
}

// Clear forgets all values, and keeps the memory for no more than so many.
func (p *Places) Clear(keep int) {
	if p.count = 0; len(p.slots)/4*3 > keep {
		p.slots = nil
	}
	clear(p.slots)
}

// seed is new in each process, so that nobody can choose keys whose hashes are the same.
var seed = maphash.MakeSeed()

// Hash is the hash of a key.
func Hash(k keys.Key) uint32 {
	h := maphash.String(seed, k.PK)
	if k.SK != "" {
		h = h*31 + maphash.String(seed, k.SK)
	}
	return uint32(h) ^ uint32(h>>32)
}
