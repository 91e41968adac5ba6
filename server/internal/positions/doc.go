// Package positions lets a client read what it has written. An answer says how far the rows that it was made of had
// come when they were read, and a query says how far they have to be.
//
// A position is, for each partition of the source of events, the offset of an event, with the incarnation of the
// partition: a log that was made anew under its old name has other positions. It is a lower bound: rows may reflect
// later events too. Clients get it sealed, in the header of an answer to a query or to POST /events, and give it back
// as it is.
package positions
