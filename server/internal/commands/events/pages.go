package events

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/server/internal/client"
	"github.com/foldql/foldql/server/internal/search"
)

// reading goes through what a query finds, a page at a time, up to where the log ends at the first one.
type reading struct {
	from  *client.Client
	query search.Query // From is how far it has come
	limit int          // events that are wanted, 0 for all
	whole bool         // of a reading that breaks off nothing is left, so it cannot go on
	found int          // events so far
	more  bool         // the log goes on behind what has been read
}

// each calls f with each page. An error says where to go on, or that all has to be read again.
func (r *reading) each(ctx context.Context, f func(*search.Page) error) error {
	for begun := false; ; begun = true {
		page, err := r.page(ctx)
		switch {
		case err != nil && begun:
			return fmt.Errorf("%w; %s", err, r.goOn(r.query.From))
		case err != nil:
			return err
		case !begun:
			if err := r.checkFrom(page); err != nil {
				return err
			}
		}
		if err := f(page); err != nil {
			return err
		}
		r.found += len(page.Events)
		r.query.From, r.query.UpTo, r.more = page.Next, page.UpTo, page.More
		if r.limit > 0 && r.found >= r.limit {
			return nil
		}
		if len(page.Unread) > 0 && !page.More {
			return fmt.Errorf("the events after %s, up to %s, are not in the copy, and its source does not answer: start the "+
				"server that keeps the copy, and when it has them %s", search.FormatPosition(page.Next),
				search.FormatPosition(page.Unread), r.goOn(page.Next))
		}
		if !page.More {
			return nil
		}
	}
}

// goOn is what to do after a failure.
func (r *reading) goOn(at eventlog.Offsets) string {
	if r.whole {
		return "repeat the command: nothing was written"
	}
	return "go on with --from " + search.FormatPosition(at)
}

// page asks for the next page.
func (r *reading) page(ctx context.Context) (*search.Page, error) {
	q := r.query
	if q.Limit = search.MostEvents; r.limit > 0 {
		q.Limit = min(q.Limit, r.limit-r.found)
	}
	body, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	page := &search.Page{}
	err = r.from.Do(ctx, http.MethodPost, "/admin/events/search", "application/json", body,
		client.Answer{Into: page, With: "upTo"})
	return page, err
}

// checkFrom refuses a position behind the end: it is of another log, and what is appended here up to it would be
// passed over.
func (r *reading) checkFrom(first *search.Page) error {
	if first.UpTo.Behind(r.query.From) {
		return fmt.Errorf("the position %s is behind the end of the log, %s: is it of another log? "+
			"leave --from out to begin at the start", search.FormatPosition(r.query.From), search.FormatPosition(first.UpTo))
	}
	return nil
}
