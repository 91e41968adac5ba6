package events

import (
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/search"
)

// filter chooses events: all that is given must fit.
type filter struct {
	Subject string   `help:"Events about this subject." placeholder:"SUBJECT"`
	Type    []string `help:"Events of this type; repeat it for several." placeholder:"TYPE"`
	Source  string   `help:"Events of this source." placeholder:"SOURCE"`
	After   string   `help:"Events that happened at this time or later: 2024-01-15T10:30:00Z, or a date." placeholder:"TIME"`
	Before  string   `help:"Events that happened before this time." placeholder:"TIME"`
	From    string   `help:"Events behind this position, as an earlier run has printed it: PARTITION:OFFSET." placeholder:"POSITION"`
}

func (f *filter) query() (q search.Query, err error) {
	q = search.Query{Subject: f.Subject, Types: f.Type, Source: f.Source}
	if q.After, err = parseTime("after", f.After); err != nil {
		return q, err
	}
	if q.Before, err = parseTime("before", f.Before); err != nil {
		return q, err
	}
	if !q.Before.IsZero() && !q.After.Before(q.Before) {
		return q, config.Wrong("after, before", "no time is at %s or later, and before %s; exchange them", f.After, f.Before)
	}
	if f.From == "" {
		return q, nil
	}
	if q.From, err = search.ParsePosition(f.From); err != nil {
		return q, config.Wrong("from", "%w", err)
	}
	return q, nil
}

// parseTime reads a time, the zero one where there is none. A date is its beginning in UTC.
func parseTime(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	whole := text
	if _, err := keys.ParseDate(text); err == nil {
		whole += "T00:00:00Z"
	}
	t, err := keys.ParseDateTime(whole)
	if err != nil {
		return t, config.Wrong(flag, "%.100q is no time; write it as 2024-01-15T10:30:00Z, or 2024-01-15", text)
	}
	return t, nil
}
