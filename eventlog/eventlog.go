// Package eventlog defines the event, the source that events are read from, and the log that they are appended to.
//
// An [Event] is a CloudEvent 1.0 with a JSON object as its data. A [Source] delivers events in order within each of its
// partitions, at offsets that never change; the pair of an event's source and id is unique. A [Log] is a source that
// also accepts events.
//
// # Sources
//
//	embeddedlog  a durable log on this machine: log:DIR of the server
//	filesource   a file of events, one JSON object a line, or a directory of such files: file:PATH of the server
//	httpsource   the log of another server: https://HOST:PORT of the server
//	memlog       a log in memory, for tests and programs that embed a server
//	mirror       a durable copy of any of them on this machine: --mirror of the server
//	natssource   a stream of NATS JetStream: nats://HOST:PORT/STREAM of the server
//
// # Adding a source
//
// Implement [Source] in a folder of its own below eventlog, or [Log] if events can be appended. Positions are the hard
// part: an event that was read once is durable and keeps its offset, also after the source is opened again. Implement
// [RecreatableSource] if a source can be recreated under its old name, so that positions in the former one are not
// continued, and [SparseSource] if some of its offsets have no event. An event that cannot be read is delivered with
// Malformed set, and never left out; implement [Redecoder] so that copies of it can be read later.
//
// Run sourcetest.Run on it in a test. To let the server open it by name, add its form of --events to parseSource in
// server/internal/config, and a case to Open in server/internal/sources. A program that embeds the server passes it as
// [EmbedConfig.Source] instead.
//
// [EmbedConfig.Source]: https://pkg.go.dev/github.com/foldql/foldql/server#EmbedConfig
package eventlog

import (
	"context"
	"errors"
	"time"
)

// Event is one CloudEvent as a source delivers it.
type Event struct {
	ID      string
	Source  string // the CloudEvents source attribute, not a Source
	Type    string
	Subject string    // the entity it is about, "" for none
	Time    time.Time // UTC; when it happened, as its producer says
	// PartitionKey is the CloudEvents partitioning extension, "" for none.
	PartitionKey string
	DataSchema   string
	Data         []byte            // one JSON object
	Extensions   map[string]string // every other context attribute, nil for none

	// Malformed says why the source could not read the event; nil if it could be read. Such an event must not get
	// lost: it keeps its position, and becomes a dead letter. Data is then what stands in the source, as it is,
	// and the attributes are those that could be read.
	Malformed error
	// Envelope is what else the source received of a malformed event, in a form of its own: see Redecoder. Nil where it
	// is none, or cannot read the event again.
	Envelope []byte

	// MessageHash is a hash of the message that the event was made of, "" where the message is the event. It stays the
	// same where another mapping makes another event of it.
	MessageHash string

	// Where the event stands: the partition of the source and its place in it, counted from 1.
	Partition string
	Offset    uint64
}

// Offsets holds, by partition, the offset of the last event that has been read, 0 for none.
type Offsets map[string]uint64

// Behind reports whether events up to the others have yet to be read: whether, of any partition that the others name,
// the offset is lower than theirs. A partition that only the others name stands at 0.
func (o Offsets) Behind(others Offsets) bool {
	for partition, offset := range others {
		if o[partition] < offset {
			return true
		}
	}
	return false
}

// Errors that [Log.Append] returns if it cannot write now. The events may be appended later nonetheless, unless the
// error is ErrNothingAppended too; it is safe to append them again. ErrFull says that there is no space left: the log
// continues by itself once there is some.
var (
	ErrFull            = errors.New("eventlog: there is no space for more events")
	ErrUnwritable      = errors.New("eventlog: the log cannot be written")
	ErrNothingAppended = errors.New("eventlog: nothing is appended")
)

// ErrClosed is the error of a call to a source that is closed.
var ErrClosed = errors.New("eventlog: the source is closed")

// Source delivers events. Implementations are safe for concurrent use by several readers.
type Source interface {
	// Partitions names the partitions. The set may grow; where it has shrunk, the loss is an error, of this call or of a
	// Read.
	Partitions(ctx context.Context) ([]string, error)

	// Read returns up to max events of the partition that follow the offset, in order, without waiting for more to come;
	// none where there are none yet, possibly fewer than there are. An event once returned is durable and stays at its
	// offset. What is returned is shared: it must not be changed. A read never passes over events: it fails with a
	// *ForgottenError where the source had some after the offset and has forgotten them, and with a *ReplacedError where
	// the partition is another than this source has read before.
	Read(ctx context.Context, partition string, after uint64, max int) ([]Event, error)

	// Wait returns when some partition has, or may have, an event after its position. It returns io.EOF when the
	// source has ended and no event follows any of the positions, nor ever will.
	Wait(ctx context.Context, after Offsets) error

	// Head returns the last offset of the partition as it is now, 0 where it has had none: how far behind projections
	// are, and when a rebuild is complete, follows from it. It is that of the last event, but for a SparseSource. It
	// fails for a partition that does not exist.
	Head(ctx context.Context, partition string) (uint64, error)

	// Close releases the source; calls that wait, and calls made later, return ErrClosed.
	Close() error
}
