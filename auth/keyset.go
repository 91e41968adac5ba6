package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// keySet is a JSON Web Key Set that is read again when its keys are old, when a token is signed with none of them, and,
// for a file, when the file has changed. A set that cannot be read leaves the keys as they are until they
// expire: without an end, whoever keeps the server from reading the set could use a stolen key for ever. A set
// without keys leaves none.
type keySet struct {
	name   string // path or address
	shown  string // the same without secrets
	client *http.Client
	now    func() time.Time
	log    *slog.Logger

	refetchAfter, maxAge, expireAfter, leeway time.Duration

	mu      sync.Mutex
	keys    []key
	good    time.Time     // when the attempt began that last read a set; zero before
	tried   time.Time     // when the last attempt began
	unread  bool          // the last attempt that has ended read no set
	stamp   stamp         // of the file that was read last
	reading chan struct{} // closed when the reading under way ends; nil where there is none
	awaited bool          // everybody waits for that reading
}

// stamp identifies a state of a file.
type stamp struct {
	modified time.Time
	size     int64
}

// maxKeySetSize bounds what is read of a key set.
const maxKeySetSize = 1 << 20

func newKeySet(cfg *Config) *keySet {
	return &keySet{
		name: cfg.JWKS, shown: shown(cfg.JWKS), client: cfg.Client, now: cfg.Now, log: cfg.Logger,
		refetchAfter: cfg.RefetchAfter, maxAge: cfg.MaxKeyAge, expireAfter: cfg.KeysExpireAfter, leeway: cfg.Leeway,
	}
}

// open reads the set for the first time. An address that does not answer yet, or has no keys yet, is no error.
func (s *keySet) open(ctx context.Context) error {
	s.mu.Lock()
	reading := s.begin()
	s.mu.Unlock()
	err := s.read(ctx, reading)
	if remote(s.name) && ctx.Err() == nil {
		return nil
	}
	if err == nil && len(s.keys) == 0 {
		err = fmt.Errorf("read the key set %s: %w", s.shown, errNoKeys)
	}
	return err
}

var errNoKeys = errors.New("it has no public key that signatures can be verified with")

// find implements keySource. The key of a token may be one that the issuer has just begun to use: who finds none waits
// for a reading that is under way, or reads the set. Nobody else waits for an issuer, unless the keys at hand are too
// old to be taken unasked.
func (s *keySet) find(ctx context.Context, w wanted, tried []jwt.VerificationKey) ([]jwt.VerificationKey, error) {
	s.mu.Lock()
	found, err := s.lookup(w, tried, s.mayBeNew(w))
	reading, began := s.reading, false
	if reading == nil && s.due(len(found) > 0) {
		s.awaited = !remote(s.name) || s.overdue()
		reading, began = s.begin(), true
		go func() { _ = s.read(ctx, reading) }() // what goes wrong is logged, and lookup knows that it did
	}
	wait := len(found) == 0 || s.awaited
	s.mu.Unlock()
	if reading == nil || !wait {
		return found, err
	}
	select {
	case <-reading:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lookup(w, tried, !began && s.mayBeNew(w))
}

// lookup returns the keys at hand; s.mu is held. Where none fits, and the key may be a new one or what the set has now
// could not be read, it is not known whether one of its keys does.
func (s *keySet) lookup(w wanted, tried []jwt.VerificationKey, mayBeNew bool) (
	found []jwt.VerificationKey, err error,
) {
	if s.good.IsZero() || s.now().Sub(s.good) >= s.expireAfter {
		return nil, ErrUnavailable
	}
	for i := range s.keys {
		if k := &s.keys[i]; k.fits(w.alg, w.kid) && !k.among(tried) {
			found = append(found, k.public)
		}
	}
	if len(found) == 0 && (mayBeNew || s.tried.After(s.good)) {
		return nil, ErrUnavailable
	}
	return found, nil
}

// mayBeNew reports whether the issuer may use the key only since the set was last read; s.mu is held. A token cannot
// say so for long: the set is read again, or its time lies in the future. A file that has changed is read at once.
func (s *keySet) mayBeNew(w wanted) bool {
	const precision = time.Second // of the time that a token says
	return remote(s.name) && !w.issued.IsZero() && w.issued.Add(s.leeway+precision).After(s.good) &&
		!w.issued.After(s.now().Add(s.leeway))
}

// due reports whether the set should be read now; s.mu is held.
func (s *keySet) due(found bool) bool {
	age := s.now().Sub(s.tried)
	return !found && age >= s.refetchAfter || age >= s.readAfter() || s.fileChanged(age)
}

// retryAfter is the time between two attempts to read a set that cannot be read, as long as there are keys.
const retryAfter = time.Minute

// readAfter is how old the last attempt may be; s.mu is held. An address is asked some time before the keys are
// overdue, while nobody has to wait for it.
func (s *keySet) readAfter() time.Duration {
	switch {
	case s.tried.After(s.good):
		return min(s.maxAge, retryAfter)
	case remote(s.name):
		return s.maxAge - s.maxAge/5
	}
	return s.maxAge
}

// overdue reports whether the keys are old, and nobody has tried since to read others; s.mu is held.
func (s *keySet) overdue() bool { return s.tried.Equal(s.good) && s.now().Sub(s.good) >= s.maxAge }

// lookAgain is how often at most a file is looked at.
const lookAgain = time.Second

// fileChanged looks at the file, whose last reading has that age; s.mu is held.
func (s *keySet) fileChanged(age time.Duration) bool {
	if remote(s.name) || age < lookAgain {
		return false
	}
	info, err := os.Stat(s.name)
	return err == nil && s.stamp != stampOf(info)
}

func stampOf(info os.FileInfo) stamp { return stamp{info.ModTime(), info.Size()} }

// begin makes the caller the one who reads the set, by a call of read; s.mu is held, and nobody else is reading it.
func (s *keySet) begin() (reading chan struct{}) {
	s.reading, s.tried = make(chan struct{}), s.now()
	return s.reading
}

// read reads the set, and then closes the channel, for which those wait who found no key.
func (s *keySet) read(ctx context.Context, reading chan struct{}) error {
	// The caller may go away; those who wait with it still want the keys.
	keys, at, err := s.parse(context.WithoutCancel(ctx))

	s.mu.Lock()
	defer s.mu.Unlock()
	defer close(reading)
	s.reading = nil
	s.stamp, s.unread = at, err != nil
	if err != nil {
		s.logUnread(err)
		return err
	}
	if len(keys) == 0 {
		s.log.Error("the key set has no key that signatures can be verified with: every token is refused", "jwks", s.shown)
	}
	s.keys, s.good = keys, s.tried
	return nil
}

// logUnread says what becomes of tokens; s.mu is held.
func (s *keySet) logUnread(err error) {
	expire := s.good.Add(s.expireAfter)
	if s.good.IsZero() || !s.now().Before(expire) {
		s.log.Error("key set not read; no token can be verified until it is", "jwks", s.shown, "error", err)
		return
	}
	s.log.Error("key set not read; tokens are verified with the keys read before until they expire",
		"jwks", s.shown, "expire", expire, "error", err)
}

// parse turns a panic into an error: those who wait for the set wait for ever if reading it has no end.
func (s *keySet) parse(ctx context.Context) (keys []key, at stamp, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		if err != nil {
			err = fmt.Errorf("read the key set %s: %w", s.shown, err)
		}
	}()
	text, at, err := s.text(ctx)
	if err != nil {
		return nil, at, err
	}
	keys, err = parseKeys(text, s.log)
	return keys, at, err
}

func (s *keySet) text(ctx context.Context) ([]byte, stamp, error) {
	if remote(s.name) {
		text, err := s.fetch(ctx)
		return text, stamp{}, err
	}
	f, err := os.Open(s.name)
	if err != nil {
		return nil, stamp{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, stamp{}, err
	}
	text, err := bounded(f)
	return text, stampOf(info), err
}

func (s *keySet) fetch(ctx context.Context) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.name, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/jwk-set+json, application/json")
	res, err := s.client.Do(req)
	if bare := (*url.Error)(nil); errors.As(err, &bare) {
		return nil, bare.Err // the address in the error may hold a secret
	}
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("answered %s", res.Status)
	}
	return bounded(res.Body)
}

func bounded(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxKeySetSize+1))
	if err == nil && len(text) > maxKeySetSize {
		err = fmt.Errorf("it has more than %d bytes", maxKeySetSize)
	}
	return text, err
}
