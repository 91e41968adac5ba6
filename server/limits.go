package server

import (
	"cmp"
	"time"

	"github.com/foldql/foldql/server/internal/config"
)

// Limits bound what one request to an embedded server may cost, and what all requests may cost together. A zero field
// means the default of the option of `serve` with that name, nearly always without the unit: --max-read for
// MaxReadBytes, but --max-inflight-bytes for MaxInflightBytes.
type Limits struct {
	MaxBodyBytes       int64         // bytes of a GraphQL request
	MaxDepth           int           // how deep a query may be nested
	MaxTokens          int           // tokens of a query
	MaxAliases         int           // aliases in a query
	MaxRootFields      int           // queries that one request may ask
	MaxFields          int           // fields of a query
	MaxValues          int           // values in the variables of a request
	MaxAnswerBytes     int           // bytes of an answer; it may have an object for every 256 of them
	MaxExamined        int           // rows that the filters of one request look at
	MaxHidden          int           // rows of others that one request passes over, or keys of it that lead to no own row
	MaxReadBytes       int64         // bytes of rows that are read for one request
	MaxEventsBodyBytes int64         // bytes of a request with events
	MaxEventBytes      int           // bytes of one event
	Timeout            time.Duration // time that a query may take
	PositionWait       time.Duration // time that a query waits for rows to reach the position that it asks for
	ReadTimeout        time.Duration // time in which a client has to send 64 KiB of a request
	WriteTimeout       time.Duration // time in which a client has to receive 64 KiB of an answer

	MaxInflightBytes int64 // bytes that large requests take while they are answered, all together
}

// apply sets the limits that are given.
func (l *Limits) apply(to *config.Limits) {
	to.MaxBody = cmp.Or(l.MaxBodyBytes, to.MaxBody)
	to.MaxDepth = cmp.Or(l.MaxDepth, to.MaxDepth)
	to.MaxTokens = cmp.Or(l.MaxTokens, to.MaxTokens)
	to.MaxAliases = cmp.Or(l.MaxAliases, to.MaxAliases)
	to.MaxRootFields = cmp.Or(l.MaxRootFields, to.MaxRootFields)
	to.MaxFields = cmp.Or(l.MaxFields, to.MaxFields)
	to.MaxValues = cmp.Or(l.MaxValues, to.MaxValues)
	to.MaxAnswer = cmp.Or(l.MaxAnswerBytes, to.MaxAnswer)
	to.MaxExamined = cmp.Or(l.MaxExamined, to.MaxExamined)
	to.MaxHidden = cmp.Or(l.MaxHidden, to.MaxHidden)
	to.MaxRead = cmp.Or(l.MaxReadBytes, to.MaxRead)
	to.MaxEventsBody = cmp.Or(l.MaxEventsBodyBytes, to.MaxEventsBody)
	to.MaxEvent = cmp.Or(l.MaxEventBytes, to.MaxEvent)
	to.Timeout = cmp.Or(l.Timeout, to.Timeout)
	to.PositionWait = cmp.Or(l.PositionWait, to.PositionWait)
	to.ReadTimeout = cmp.Or(l.ReadTimeout, to.ReadTimeout)
	to.WriteTimeout = cmp.Or(l.WriteTimeout, to.WriteTimeout)
	to.MaxInflightBytes = cmp.Or(l.MaxInflightBytes, to.MaxInflightBytes)
}
