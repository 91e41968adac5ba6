package config

import (
	"time"

	"github.com/foldql/foldql/graph/graphqlhttp"
)

// Limits bound what one request may cost.
type Limits struct {
	MaxBody       int64         `help:"Bytes of a GraphQL request." default:"1048576" group:"Limits"`
	MaxDepth      int           `help:"Depth of a query." default:"20" group:"Limits"`
	MaxTokens     int           `help:"Tokens of a query." default:"5000" group:"Limits"`
	MaxAliases    int           `help:"Aliases in a query." default:"100" group:"Limits"`
	MaxRootFields int           `help:"Root fields of a request." default:"20" group:"Limits"`
	MaxFields     int           `help:"Fields of a query." default:"2000" group:"Limits"`
	MaxValues     int           `help:"Values in the variables of a request." default:"10000" group:"Limits"`
	MaxAnswer     int           `help:"Bytes of an answer; it may have an object for every 256 of them, and an error for every 2048." default:"33554432" group:"Limits"`
	MaxExamined   int           `help:"Rows that the filters of one request look at." default:"10000" group:"Limits"`
	MaxHidden     int           `help:"Rows that others own and one request passes over; also keys of it that lead to no row of its caller's." default:"10000" group:"Limits"`
	MaxRead       int64         `help:"Bytes of rows read for one request, and of those that it passes over." default:"33554432" group:"Limits"`
	MaxEventsBody int64         `help:"Bytes of a request with events." default:"16777216" group:"Limits"`
	MaxEvent      int           `help:"Bytes of one event." default:"262144" group:"Limits"`
	Timeout       time.Duration `help:"Time that a query may take." default:"30s" group:"Limits"`
	PositionWait  time.Duration `help:"Time that a query waits for rows to reach the position that it asks for." default:"5s" group:"Limits"`

	MaxInflightBytes int64         `help:"Bytes of memory that all large requests together take while they are answered." default:"104857600" group:"Limits"`
	MaxConnections   int           `help:"Number of open connections." default:"1024" group:"Limits"`
	ReadTimeout      time.Duration `help:"Time in which a client has to send 64 KiB of a request." default:"10s" group:"Limits"`
	WriteTimeout     time.Duration `help:"Time in which a client has to receive 64 KiB of an answer." default:"10s" group:"Limits"`
}

// Validate refuses limits that let nothing through, and a memory that not even one request fits into.
func (l *Limits) Validate() error {
	for _, limit := range []struct {
		key   string
		value int64
	}{
		{"max-body", l.MaxBody},
		{"max-depth", int64(l.MaxDepth)},
		{"max-tokens", int64(l.MaxTokens)},
		{"max-aliases", int64(l.MaxAliases)},
		{"max-root-fields", int64(l.MaxRootFields)},
		{"max-fields", int64(l.MaxFields)},
		{"max-values", int64(l.MaxValues)},
		{"max-answer", int64(l.MaxAnswer)},
		{"max-examined", int64(l.MaxExamined)},
		{"max-hidden", int64(l.MaxHidden)},
		{"max-read", l.MaxRead},
		{"max-inflight-bytes", l.MaxInflightBytes},
		{"max-connections", int64(l.MaxConnections)},
		{"read-timeout", int64(l.ReadTimeout)},
		{"write-timeout", int64(l.WriteTimeout)},
		{"max-events-body", l.MaxEventsBody},
		{"max-event", int64(l.MaxEvent)},
		{"timeout", int64(l.Timeout)},
		{"position-wait", int64(l.PositionWait)},
	} {
		if limit.value <= 0 {
			return Wrong(limit.key, "a limit must be above 0")
		}
	}
	if least := graphqlhttp.MinMemory(l.MaxBody, l.MaxRead, int64(l.MaxAnswer)); l.MaxInflightBytes < least {
		return Wrong("max-inflight-bytes", "%d is less than one request may take; give %d at least, or lower max-read "+
			"or max-answer",
			l.MaxInflightBytes, least)
	}
	return nil
}
