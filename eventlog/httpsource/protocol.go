package httpsource

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
)

// Paths below the address of a server.
const (
	EventsPath     = "/events"
	PartitionsPath = "/events/partitions"
	WaitPath       = "/events/wait"
	// DecisionsPath and DecisionsWaitPath are of what was decided about events that could not be folded.
	DecisionsPath     = "/events/decisions"
	DecisionsWaitPath = "/events/decisions/wait"
)

// Bounds of answers.
const (
	maxEvents   = 1000
	answerBytes = 8 << 20 // of events, after which there is no other
	mostKnown   = 100     // partitions of which a wait tells what is known: the server looks at each of them
	// longestQuery is how many bytes of parameters an address has, which a proxy bounds, typically to 8 KB with the rest
	// of it; longestForm is how many a body has.
	longestQuery = 4 << 10
	longestForm  = 4 << 20
	longestWait  = 20 * time.Second
	// look is how often a wait looks whether the server ends, and the least time from one wait to the next.
	look = 500 * time.Millisecond
	// defaultRest is how long nothing is asked of a server whose events have ended: it answers a wait at once.
	defaultRest = 2 * time.Second
	// patience is how long a server may send nothing, and a reader not take a part of an answer. A large answer over a
	// slow link takes many times as long.
	patience      = longestWait + 40*time.Second
	longestAnswer = time.Hour // from its first part to the last
	mostOfAnswer  = 256 << 20 // that a source takes: one event may be as large as the server's log lets it be
	// longestMessageHash is how long that of an event may be, which is put on record: it is a hash.
	longestMessageHash = 64
)

// partitionsAnswer is the body of an answer about partitions.
type partitionsAnswer struct {
	Partitions []partition `json:"partitions"`
}

type partition struct {
	Name        string `json:"name"`
	Incarnation string `json:"incarnation,omitempty"`
	Head        uint64 `json:"head"`
}

// eventsAnswer is the body of an answer with events.
type eventsAnswer struct {
	Events []placed `json:"events"`
	// Through is how far no event is after the one that was asked for, where that is further; it is of an answer without
	// events.
	Through uint64 `json:"through,omitempty"`
	// Known is what the reader knows of the partition from then on.
	Known known `json:"known"`
}

// forgottenProblem and replacedProblem are the types of answers about events that are lost.
const (
	urn              = "urn:foldql:problem:"
	forgottenProblem = urn + "forgotten-events"
	replacedProblem  = urn + "replaced-events"
)

// placed is an event and where it stands.
type placed struct {
	Offset uint64          `json:"offset"`
	Event  json.RawMessage `json:"event,omitempty"` // a CloudEvent in the JSON format
	// MessageHash is that of the event.
	MessageHash string `json:"messageHash,omitempty"`
	// Malformed is why the server could not read the event, and Text what stands there. The others are what it could
	// read.
	Malformed string `json:"malformed,omitempty"`
	Text      []byte `json:"text,omitempty"`
	ID        string `json:"id,omitempty"`
	Source    string `json:"source,omitempty"`
	Type      string `json:"type,omitempty"`
	Subject   string `json:"subject,omitempty"`
}

func placedOf(e *eventlog.Event) placed {
	if e.Malformed != nil {
		return placed{Offset: e.Offset, Malformed: e.Malformed.Error(), Text: e.Data, ID: e.ID, Source: e.Source,
			Type: e.Type, Subject: e.Subject}
	}
	return placed{Offset: e.Offset, Event: cloudevents.Append(nil, e), MessageHash: e.MessageHash}
}

func (p *placed) size() int {
	return len(p.Event) + len(p.Malformed) + 2*len(p.Text) + len(p.ID) + len(p.Source) + len(p.Type) + len(p.Subject) +
		len(p.MessageHash) + 32
}

// event is the event as the source delivers it. The decoder's limit is of the event as it came to the server that has
// the log, which may have been shorter than it is here.
func (p *placed) event(name string, decoder cloudevents.Decoder) eventlog.Event {
	e := eventlog.Event{ID: p.ID, Source: p.Source, Type: p.Type, Subject: p.Subject,
		Malformed: errors.New(p.Malformed), Data: p.Text}
	if p.Malformed == "" {
		var err error
		if e, err = decoder.ForAppended().Decode(p.Event); err == nil {
			err = decoder.Fits(&e)
		}
		if err != nil {
			e = eventlog.Event{ID: e.ID, Source: e.Source, Type: e.Type, Subject: e.Subject, Malformed: err, Data: p.Event,
				Envelope: []byte(readByServer)}
		}
	}
	e.Partition, e.Offset = name, p.Offset
	if len(p.MessageHash) <= longestMessageHash {
		e.MessageHash = p.MessageHash
	}
	return e
}

// readByServer is the Envelope of an event that the server could read, and this source could not: its Data are the
// event as the server has sent it. What the server could not read, it alone can read again.
const readByServer = "event"

// Redecode implements eventlog.Redecoder.
func (s *Source) Redecode(e eventlog.Event) eventlog.Event {
	if string(e.Envelope) != readByServer {
		return e
	}
	p := placed{Offset: e.Offset, Event: e.Data, MessageHash: e.MessageHash}
	return p.event(e.Partition, s.decoder)
}

// waitAnswer is the body of an answer to a wait.
type waitAnswer struct {
	More  bool `json:"more"`            // some partition has, or may have, events after its offset
	Ended bool `json:"ended,omitempty"` // nothing follows any of the offsets, as long as the server runs
}
