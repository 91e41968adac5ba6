package auth

import "time"

// Stats say how a [Verifier] fares.
type Stats struct {
	// Unauthenticated counts the requests whose token was refused, and Unavailable those whose token could not be
	// verified, of all that [Verifier.Middleware] has seen.
	Unauthenticated, Unavailable uint64
	// Keys are those of the key set; nil where tokens are verified with a secret.
	Keys *KeyStats
}

// KeyStats say what is known of a key set.
type KeyStats struct {
	// Usable: there are keys to verify tokens with. Keys that are old since nobody has sent a token are, for the next one
	// has them read again.
	Usable bool
	// Age is how long ago the set was last read; negative where it never was.
	Age time.Duration
}

// Stats are those of the Verifier at the moment. It never waits for the issuer.
func (v *Verifier) Stats() Stats {
	s := Stats{Unauthenticated: v.unauthenticated.Load(), Unavailable: v.unavailable.Load()}
	if set, is := v.keys.(*keySet); is {
		s.Keys = set.stats()
	}
	return s
}

func (s *keySet) stats() *KeyStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.good.IsZero() {
		return &KeyStats{Age: -1}
	}
	age := s.now().Sub(s.good)
	return &KeyStats{Usable: len(s.keys) > 0 && !(s.unread && age >= s.expireAfter), Age: age}
}
