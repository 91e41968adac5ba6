package positions

import (
	"context"
	"errors"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/server/internal/projections"
)

// asked is a position that a query asks for.
type asked struct {
	token  string
	places []Place
}

// patience is how long a query waits before it is looked whether the log has the events at all: of most, the rows are
// there sooner, and some logs are asked over a network.
const patience = 200 * time.Millisecond

// await waits until the rows that the projections fold have reached the positions. Where as many queries wait as may,
// it only looks whether they have, and has little patience with a source that it has to ask for that.
func (p *Positions) await(ctx context.Context, tokens []string, those []*projections.Running) error {
	wait, openWithin, outOfTime := p.cfg.Wait, p.cfg.Wait, context.DeadlineExceeded
	select {
	case p.waiters <- struct{}{}:
		defer func() { <-p.waiters }()
	default:
		wait, openWithin, outOfTime = 0, min(patience, p.cfg.Wait), errManyWait
	}
	opening, cancelOpening := context.WithTimeoutCause(ctx, openWithin, outOfTime)
	defer cancelOpening()
	all, err := p.open(opening, tokens)
	if err == errManyWait {
		return late(ctx, err, wait)
	}
	if err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(opening, wait)
	defer cancel()
	at := offsets(all)
	soon, cancelSoon := context.WithTimeout(waiting, min(patience, wait/2))
	defer cancelSoon()
	if err = reach(soon, at, those); err == nil {
		return nil
	}
	if beyond := p.source.beyond(waiting, all); len(beyond) > 0 {
		return refusal(beyond)
	}
	if !errors.Is(err, projections.ErrStandStill) {
		err = reach(waiting, at, those)
	}
	if err == nil {
		return nil
	}
	return late(ctx, err, wait)
}

// reach waits until the rows of all of the projections have come so far.
func reach(ctx context.Context, at eventlog.Offsets, those []*projections.Running) error {
	for _, one := range those {
		if err := one.Await(ctx, at); err != nil {
			return err
		}
	}
	return nil
}

// errManyWait ends the time of a query beyond those that wait. The source may answer these.
var errManyWait = errors.New("as many queries wait as may")

// open opens the positions, and refuses what is none of the log.
func (p *Positions) open(ctx context.Context, tokens []string) ([]asked, error) {
	if len(tokens) > mostAsked {
		return nil, graphqlerr.New(graphqlerr.LimitExceeded, "the header %s has %d positions, at most %d may it have: leave "+
			"out those that were asked for before, the answer had a position in their place", MinHeader, len(tokens), mostAsked)
	}
	var all []asked
	var refused []string
	for _, token := range tokens {
		places, err := p.sealer.open(token)
		if err == nil {
			err = p.source.check(ctx, places)
		}
		switch {
		case errors.Is(err, ErrInvalid):
			refused = append(refused, token)
		case err != nil && context.Cause(ctx) == errManyWait:
			return nil, errManyWait
		case err != nil:
			return nil, graphqlerr.New(graphqlerr.Unavailable, "the source of events, which the position in the header %s is "+
				"of, does not answer: ask again, or leave the header out", MinHeader)
		}
		all = append(all, asked{token, places})
	}
	if len(refused) > 0 {
		return nil, refusal(refused)
	}
	return all, nil
}

// offsets are the highest of the positions, by partition.
func offsets(all []asked) eventlog.Offsets {
	at := eventlog.Offsets{}
	for _, a := range all {
		for _, p := range a.places {
			at[p.Partition] = max(at[p.Partition], p.Offset)
		}
	}
	return at
}

// beyond are the positions of events that the source does not have: those of a log that has lost its end. What cannot
// be looked up is none of them.
func (s *source) beyond(ctx context.Context, all []asked) (tokens []string) {
	at, missing := offsets(all), map[string]uint64{}
	for partition, offset := range at {
		if head, ends, err := eventlog.EndsBefore(ctx, s.Source, partition, offset); err == nil && ends {
			missing[partition] = head
		}
	}
	for _, a := range all {
		for _, p := range a.places {
			if head, is := missing[p.Partition]; is && head < p.Offset {
				tokens = append(tokens, a.token)
				break
			}
		}
	}
	return tokens
}

func refusal(tokens []string) error {
	return graphqlerr.WithExtension(graphqlerr.New(graphqlerr.InvalidToken, "a position in the header %s does not belong "+
		"to this server's log: leave out what extensions.positions lists, and take the position of a later answer",
		MinHeader),
		"positions", tokens)
}

// late is the error of a query whose rows have not come so far for the reason given, or that nobody waits for any more.
func late(ctx context.Context, why error, wait time.Duration) error {
	switch err := ctx.Err(); {
	case errors.Is(err, context.DeadlineExceeded):
		return graphqlerr.New(graphqlerr.Timeout, "the request ran out of time while it waited for the position in the "+
			"header %s; ask again, or leave the header out", MinHeader)
	case err != nil:
		return graphqlerr.New(graphqlerr.Unavailable, "the request was cancelled")
	case errors.Is(why, projections.ErrStandStill):
		return graphqlerr.New(graphqlerr.Stale, "the rows have not reached the position in the header %s, and nobody folds "+
			"them at present: leave the header out to read them as they are", MinHeader)
	case why == errManyWait:
		return graphqlerr.New(graphqlerr.Stale, "the source of events did not say in time whether the position in the "+
			"header %s is of it, and as many queries wait as may: ask again, or leave the header out to read the rows as "+
			"they are", MinHeader)
	case wait == 0:
		return graphqlerr.New(graphqlerr.Stale, "the rows have not reached the position in the header %s, and as many "+
			"queries wait as may: ask again, or leave the header out to read them as they are", MinHeader)
	}
	return graphqlerr.New(graphqlerr.Stale, "the rows have not reached the position in the header %s within %s: ask "+
		"again, or leave the header out to read them as they are", MinHeader, wait)
}
