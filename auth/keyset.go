package auth

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// keySet is a JSON Web Key Set that is read again when its keys are old, when a token names a key that is not in it, and,
// for a file, when the file has changed. A set that cannot be read leaves the keys as they are.
type keySet struct {
	name   string // path or address
	shown  string // the same without a password
	client *http.Client
	now    func() time.Time
	log    *slog.Logger

	refetchAfter, maxAge time.Duration

	mu    sync.Mutex
	keys  []key
	ever  bool      // a set has been read
	tried time.Time // when the last attempt began
	stamp stamp     // of the file that was read last
	busy  chan struct{}
}

// stamp tells one state of a file from another.
type stamp struct {
	modified time.Time
	size     int64
}

// maxKeySetSize bounds what is read of a key set.
const maxKeySetSize = 1 << 20

func newKeySet(cfg *Config) *keySet {
	return &keySet{
		name: cfg.JWKS, shown: shown(cfg.JWKS), client: cfg.Client, now: cfg.Now, log: cfg.Logger,
		refetchAfter: cfg.RefetchAfter, maxAge: cfg.MaxKeyAge,
	}
}

// open reads the set for the first time. An address that does not answer yet is no error.
func (s *keySet) open(ctx context.Context) error {
	err := s.refresh(ctx)
	if err == nil || remote(s.name) && ctx.Err() == nil {
		return nil
	}
	return err
}

// find implements keySource.
func (s *keySet) find(ctx context.Context, alg, kid string) ([]jwt.VerificationKey, error) {
	found, read, due := s.lookup(alg, kid)
	if due {
		// What goes wrong is logged; the keys at hand, if any, are what there is.
		_ = s.refresh(ctx)
		found, read, _ = s.lookup(alg, kid)
	}
	if !read {
		return nil, ErrUnavailable
	}
	return found, nil
}

// lookup returns the keys at hand, whether a set has been read at all, and whether it should be read now.
func (s *keySet) lookup(alg, kid string) (found []jwt.VerificationKey, read, due bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.keys {
		if k := &s.keys[i]; k.fits(alg, kid) {
			found = append(found, k.public)
		}
	}
	age := s.now().Sub(s.tried)
	switch {
	case len(found) == 0 && age >= s.refetchAfter:
		due = true
	default:
		due = age >= s.maxAge || s.fileChanged(age)
	}
	return found, s.ever, due
}

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

// refresh reads the set. Callers that come while it is being read wait for that and read nothing themselves.
func (s *keySet) refresh(ctx context.Context) error {
	s.mu.Lock()
	if busy := s.busy; busy != nil {
		s.mu.Unlock()
		select {
		case <-busy:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	done := make(chan struct{})
	s.busy, s.tried = done, s.now()
	s.mu.Unlock()

	// The caller may go away; those who wait with it still want the keys.
	keys, at, err := s.read(context.WithoutCancel(ctx))

	s.mu.Lock()
	defer s.mu.Unlock()
	defer close(done)
	s.busy = nil
	s.stamp = at
	if err != nil {
		then := "no token can be verified until it is"
		if s.ever {
			then = "tokens are verified with the keys read before"
		}
		s.log.Error("key set not read; "+then, "jwks", s.shown, "error", err)
		return err
	}
	s.keys, s.ever = keys, true
	return nil
}

func (s *keySet) read(ctx context.Context) ([]key, stamp, error) {
	text, at, err := s.text(ctx)
	if err != nil {
		return nil, at, fmt.Errorf("read the key set %s: %w", s.shown, err)
	}
	keys, err := parseKeys(text, s.log)
	if err != nil {
		return nil, at, fmt.Errorf("read the key set %s: %w", s.shown, err)
	}
	return keys, at, nil
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
