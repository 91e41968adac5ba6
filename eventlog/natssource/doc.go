// Package natssource reads the events of a stream of NATS JetStream.
//
// The stream is one partition of its name; offsets are its sequences, and its incarnation is when it was created, or
// what its metadata say under IdentityKey. A message is an event in the structured mode of CloudEvents or, with ce-
// headers, in the binary mode; any other is a malformed event. Messages that were deleted are offsets without an event.
//
// JetStream refuses no start and does not say what it leaves out: a consumer whose start is gone begins further on, and
// one of a stream that was made anew goes on in the new one. So a Source compares, whenever something is missing, the
// state of the stream with where it reads: what retention has taken is a ForgottenError, and another stream, or one
// that has lost its end, a ReplacedError.
package natssource
