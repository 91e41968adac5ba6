package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/foldql/foldql/auth"
	"github.com/foldql/foldql/graph/graphqlerr"
)

// Auth says which callers are refused before their operations are looked at, and of the keys of their tokens.
type Auth struct{ *auth.Verifier }

var (
	authRefused = describe("foldql_auth_refused_total", "Requests refused for their token, which count nowhere else: "+
		"`UNAUTHENTICATED`, or `UNAVAILABLE` while tokens cannot be verified.", "code")
	authKeysUsable = describe("foldql_auth_keys_usable", "1 where tokens can be verified with the key set, 0 where it "+
		"has no key, or its keys have expired and it cannot be read.")
	authKeysAge = describe("foldql_auth_keys_age_seconds", "Time since the key set was last read, as it is again when "+
		"tokens come; absent while it has never been.")
)

// Describe implements prometheus.Collector.
func (m Auth) Describe(to chan<- *prometheus.Desc) {
	to <- authRefused
	to <- authKeysUsable
	to <- authKeysAge
}

// Collect implements prometheus.Collector.
func (m Auth) Collect(to chan<- prometheus.Metric) {
	s := m.Stats()
	counter(to, authRefused, float64(s.Unauthenticated), string(graphqlerr.Unauthenticated))
	counter(to, authRefused, float64(s.Unavailable), string(graphqlerr.Unavailable))
	if s.Keys == nil {
		return
	}
	gauge(to, authKeysUsable, oneIf(s.Keys.Usable))
	if s.Keys.Age >= 0 {
		gauge(to, authKeysAge, s.Keys.Age.Seconds())
	}
}
