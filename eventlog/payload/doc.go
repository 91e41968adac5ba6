// Package payload makes events of messages that are no CloudEvents: JSON objects that some other producer publishes.
//
// A [Mapping] says where each attribute of the event stands in the message:
//
//	source: /orders           # the source of all events
//	id: header Nats-Msg-Id
//	type: subject 2           # orders.created is a created
//	types: {created: OrderCreated, cancelled: OrderCancelled}
//	subject: field order.id
//	time: field at
//	timeUnit: ms              # of times that are numbers: s, ms, us or ns since 1970
//	data: field payload       # where left out, the data is the message
//
// Each is one of these places:
//
//	field NAME     the text, number or boolean of that name in the message; a.b is b in the object a
//	header NAME    the header of that name, in any case
//	subject N      the N-th token of the subject that the message was published to, counted from 1
//	text VALUE     the value, always
//	position       for the id alone: the partition and the offset of the message
//
// Where time is left out, an event of a stream has the time at which its message came into the stream.
//
// An event is the same one as another if their source and id are equal. So an id must never come twice: a position is
// one only as long as the stream is not made anew.
package payload
