// Package httpsource lets servers share a log: [Handler] gives the events of a source out over HTTP, and a [Source]
// reads them there.
//
//	GET /events/partitions                      the partitions, with their incarnations and heads; partition names one
//	GET /events?partition=0&after=17&limit=500  events that follow an offset, as far as an answer goes
//	GET /events/wait?after={"0":17}&seconds=20  answers when a partition has events after its offset; a POST of the same
//	                                            as a form is for more partitions than an address has room for
//	GET /events/decisions?projection=Tasks      what was decided about events that could not be folded
//	GET /events/decisions/wait?seconds=20       tags of that, which change when something is decided
//
// A request for events, or to wait for them, tells in known what the reader knows of the partition: its incarnation,
// and the furthest event that it has read. Where the partition is another now, or has lost its end, the answer is 409.
//
// Offsets and incarnations are those of the source itself, so that any number of servers that read one log fold the
// same events at the same positions. What was decided at the server about events that could not be folded is given out
// as it is on record, from the first to the last; who follows compares it with what it has, so that it makes no
// difference how often it asks, and since when. Who may read events is not decided here.
package httpsource
