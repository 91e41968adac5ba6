package natssource

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/foldql/foldql/eventlog"
)

// stream asks the servers about a stream, and notices when it is another than it was.
type stream struct {
	link
	name    string
	removal bool // it may remove messages from its middle
	js      jetstream.JetStream
	clock   func() time.Time

	is       sync.Mutex
	known    identity
	behind   time.Time // since when an end is said that is before the known one, zero where it is not
	replaced *eventlog.ReplacedError
}

// identity is what a Source knows of the stream that it has read.
type identity struct {
	is   string // its incarnation, "" while it is not known
	last uint64 // the highest sequence that the stream is known to have had
	link int    // the connection for which the message below was looked at
	// seq and stored are of the furthest message that was read: a stream that has lost its end may have another there.
	seq    uint64
	stored time.Time
	size   uint64 // bytes of a message of the last ones that were read, on average
}

// info asks for the state of the stream. An end before the one that is known is asked for again, and believed only
// where it lasts: the answer may be of a replica that has learned of an election, and not yet what the leader has.
func (s *stream) info(ctx context.Context) (*jetstream.StreamInfo, error) {
	known := s.endKnown() // as it is before the request
	at, err := s.infoOnce(ctx)
	if err == nil && at.State.LastSeq < known {
		at, err = s.infoOnce(ctx)
	}
	if err != nil && ctx.Err() != nil { // which says nothing of the stream
		return nil, err
	}
	return at, s.doubt(known, at, err)
}

// electionTime is for how long a replica may be behind that names the leader: it hears from that one every second.
const electionTime = 2 * time.Second

// doubt is the error of the answer, or one where an end before the known one may be of a replica that is behind. Nobody
// waits here: whoever asks may have less time than an election takes, and asks again. What is said after an error
// may be of another election.
func (s *stream) doubt(known uint64, at *jetstream.StreamInfo, err error) error {
	s.is.Lock()
	defer s.is.Unlock()
	if err != nil || at.State.LastSeq >= known || at.Config.Replicas < 2 {
		s.behind = time.Time{}
		return err
	}
	now := s.clock()
	if s.behind.IsZero() {
		s.behind = now
	}
	if now.Sub(s.behind) < electionTime {
		return fmt.Errorf("the stream has had sequence %d, and is said to end at %d: a replica may have answered that is "+
			"behind since an election", known, at.State.LastSeq)
	}
	return nil
}

var errNoLeader = errors.New("the stream has no leader now: its servers are electing one, or too few of them are there")

func (s *stream) infoOnce(ctx context.Context) (*jetstream.StreamInfo, error) {
	if !s.nc.IsConnected() {
		return nil, errNotConnected
	}
	st, err := s.js.Stream(ctx, s.name)
	if err != nil {
		return nil, err
	}
	at := st.CachedInfo()
	if at.Cluster != nil && at.Cluster.Leader == "" { // the answer is of a replica, which may be behind
		return nil, errNoLeader
	}
	return at, nil
}

// look asks for the state of the stream, and whether it is the one that was read before.
func (s *stream) look(ctx context.Context) (*jetstream.StreamInfo, error) {
	s.is.Lock()
	replaced, was := s.replaced, s.known // as it is before the request: others may ask at the same time
	s.is.Unlock()
	link, _ := s.now()
	if replaced != nil {
		return nil, replaced
	}
	at, err := s.info(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.refusal(&at.Config); err != nil {
		return nil, err
	}
	if err := s.compare(&was, at); err != nil || was.link == link {
		return at, err
	}
	return at, s.compareMessage(ctx, was, link)
}

// compare compares the stream with what was known of it when it was asked for its state.
func (s *stream) compare(was *identity, at *jetstream.StreamInfo) error {
	is, err := identityOf(at)
	if err != nil {
		return err
	}
	s.is.Lock()
	defer s.is.Unlock()
	switch {
	case was.is == "":
		s.known.is = is
	case was.is != is:
		return s.isAnother(fmt.Sprintf("the stream was deleted, and made anew or restored at %s: its identity was %s, and "+
			"is %s", at.Created.UTC().Format(time.RFC3339), was.is, is))
	case at.State.LastSeq < was.last:
		return s.isAnother(fmt.Sprintf("the stream has had sequence %d, and ends at %d now: the server has lost "+
			"messages that it had stored", was.last, at.State.LastSeq))
	}
	s.known.last = max(s.known.last, at.State.LastSeq)
	return nil
}

// isAnother notes that the stream is another, for good; the caller holds the lock.
func (s *stream) isAnother(why string) error {
	if s.replaced == nil {
		s.replaced = &eventlog.ReplacedError{Partition: s.name, Reason: why}
	}
	return s.replaced
}

// compareMessage compares the furthest message that was read with the one that the stream has there: a server that has
// lost the end of a stream numbers what comes then as it has numbered what it lost.
func (s *stream) compareMessage(ctx context.Context, seen identity, link int) error {
	var now message
	var err error
	if seen.seq > 0 {
		now, err = s.messageFrom(ctx, seen.seq)
	}
	if err != nil {
		return err
	}
	s.is.Lock()
	defer s.is.Unlock()
	if now.Seq == seen.seq && seen.seq > 0 && !now.Time.Equal(seen.stored) {
		return s.isAnother(fmt.Sprintf("the stream has another message at sequence %d than before: the server has lost "+
			"messages that it had stored", seen.seq))
	}
	s.known.link = link
	return nil
}

// compareFurthest compares the furthest message that was read, also where the connection is the one on which it was
// looked at before: behind another server of a cluster, the one that has the stream may have begun again.
func (s *stream) compareFurthest(ctx context.Context) error {
	s.is.Lock()
	seen := s.known
	s.is.Unlock()
	link, _ := s.now()
	return s.compareMessage(ctx, seen, link)
}

// read notes the furthest message that was read, and how large messages are, 0 where one does not tell.
func (s *stream) read(seq uint64, stored time.Time, size uint64) {
	s.is.Lock()
	defer s.is.Unlock()
	if size > 0 {
		s.known.size = size
	}
	if seq > s.known.seq {
		s.known.seq, s.known.stored = seq, stored
	}
	s.known.last = max(s.known.last, seq)
}

// refusal is why events would get lost from the middle of the stream without a trace, nil where they do not.
func (s *stream) refusal(c *jetstream.StreamConfig) error {
	const allowed = "; or allow it (--events-allow-removal), if no message that is removed is one that rows need"
	removes := ""
	switch {
	case c.Retention != jetstream.LimitsPolicy:
		return fmt.Errorf("the stream removes messages that were read (retention %s): only one with retention by limits "+
			"is a log", c.Retention)
	case s.removal:
		return nil
	case c.MaxMsgsPerSubject > 0:
		removes = "keeps so many messages of each subject (max-msgs-per-subject)"
	case c.AllowMsgTTL:
		removes = "lets messages expire one by one (allow-msg-ttl)"
	case c.AllowRollup:
		removes = "lets a message replace those before it (allow-rollup)"
	case c.Mirror != nil:
		return fmt.Errorf("the stream is a mirror of %s, and passes over what that one has forgotten before it was copied, "+
			"so that events are missing without a trace: read %s itself%s", c.Mirror.Name, c.Mirror.Name, allowed)
	case len(c.Sources) > 0:
		others := make([]string, len(c.Sources))
		for i, other := range c.Sources {
			others[i] = other.Name
		}
		return fmt.Errorf("the stream takes its messages from others (%s), and numbers them anew, so that what those have "+
			"forgotten before it was copied is missing without a trace: read the stream that events are published to%s",
			strings.Join(others, ", "), allowed)
	}
	if removes == "" {
		return nil
	}
	return fmt.Errorf("the stream %s, so that events vanish without a trace: change that%s", removes, allowed)
}

// forgotten is the error of a read after the offset where the stream begins further on, nil where it does not. Of one
// that may remove what it wants, nothing is missed.
func (s *stream) forgotten(after uint64, st *jetstream.StreamState) error {
	if s.removal || after+1 >= st.FirstSeq {
		return nil
	}
	return &eventlog.ForgottenError{Partition: s.name, After: after, First: st.FirstSeq}
}

func (s *stream) isReplaced() error {
	s.is.Lock()
	defer s.is.Unlock()
	if s.replaced != nil {
		return s.replaced
	}
	return nil
}

// moreAfter reports whether a message follows the sequence. It fails where some that followed it are forgotten.
func (s *stream) moreAfter(ctx context.Context, after uint64) (bool, error) {
	at, err := s.look(ctx)
	if err != nil || after >= at.State.LastSeq {
		return false, err
	}
	if err := s.forgotten(after, &at.State); err != nil {
		return false, err
	}
	m, err := s.messageFrom(ctx, after+1)
	return m.Seq > 0, err
}

// messageSize is how many bytes of memory a message takes on average: of the last ones that were read, or of those in
// the stream, whichever is more.
func (s *stream) messageSize(st *jetstream.StreamState) uint64 {
	s.is.Lock()
	size := s.known.size
	s.is.Unlock()
	if st.Msgs > 0 {
		size = max(size, st.Bytes/st.Msgs)
	}
	return size + typicalHeader
}

// endKnown is the highest sequence that the stream is known to have had.
func (s *stream) endKnown() uint64 {
	s.is.Lock()
	defer s.is.Unlock()
	return s.known.last
}
