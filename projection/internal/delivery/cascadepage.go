package delivery

import (
	"context"
	"errors"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection/internal/cascade"
	"github.com/foldql/foldql/projection/internal/checkpoint"
	"github.com/foldql/foldql/projection/internal/usercode"
	"github.com/foldql/foldql/querydb"
)

// follow has the copies of a page follow their row, of as many as one commit holds, and returns the task as it is then.
// One row may be stored in a way that cannot be read. A store may find a row too large that the fold has not, or one
// that has expired and lost a unique key to another, and refuses its commit as a whole. So half of the page is tried,
// and half of that, down to the one row that has to keep its copy. Nobody reads one that has expired.
func (c refresher) follow(ctx context.Context, t cascade.Task, p *page) (cascade.Task, error) {
	next, began := t, c.evaluator.cfg.Now()
	b, err := c.fold(ctx, &next, p)
	if err == nil {
		b.Notes = append(b.Notes, c.progress(next)...)
		err = c.commit(ctx, b, next, p)
	}
	c.ended(len(p.links), len(p.links) == c.links.most, began, err)
	lost := errors.Is(err, querydb.ErrConflict)
	switch {
	case !unfit(err):
		return next, err
	case len(p.links) > 1:
		return c.follow(ctx, t, p.half())
	}
	if !lost {
		c.fail(ctx, &t, &p.links[0], err)
	}
	t.After = p.links[0].id
	return t, c.apply(ctx, querydb.Batch{Notes: c.progress(t)})
}

// ended notes how a commit has ended that had so many copies follow, full where these were as many as may be.
func (c refresher) ended(tried int, full bool, began time.Time, err error) {
	switch cfg := c.evaluator.cfg; {
	case overloads(err):
		c.links.halve(tried)
	case err == nil && full:
		c.links.reached(cfg.Now().Sub(began), cfg)
	}
}

// page is what one commit works at: links of one reference, and the rows that they lead to where these are recopied.
// Else ops read them.
type page struct {
	from     place
	links    []link
	rows     []querydb.Row
	recopies bool
}

func (p *page) half() *page {
	n := len(p.links) / 2
	return &page{from: p.from, links: p.links[:n], rows: p.rows[:min(n, len(p.rows))], recopies: p.recopies}
}

// leaveToOps has ops evaluate the rows.
func (p *page) leaveToOps() {
	p.links, p.rows, p.recopies = p.links[:min(mostRefreshed, len(p.links))], nil, false
}

// place is where a task has come to.
type place struct {
	links     string // kind of their notes: it names the generation of the rows
	task      string
	reference int
	after     string
}

func (c refresher) placeOf(t *cascade.Task) place {
	return place{c.state.Done().Kind(checkpoint.KindLink, c.projection.Name), t.ID(), t.Reference, t.After}
}

// next is the next page of the task, without links where the task is done.
func (c refresher) next(ctx context.Context, t *cascade.Task) (*page, error) {
	p := c.ahead
	if c.ahead = nil; p != nil && p.from == c.placeOf(t) {
		return p, nil
	}
	for refs := c.evaluator.fold.Tracked().ReferencesTo(t); t.Reference < len(refs); t.Reference++ {
		p, err := c.read(ctx, t, refs[t.Reference])
		if err != nil || len(p.links) > 0 {
			return p, err
		}
		t.After = ""
	}
	return &page{}, nil
}

// read reads the page at which the task stands.
func (c refresher) read(ctx context.Context, t *cascade.Task, ref cascade.Reference) (p *page, err error) {
	tracked, most := c.evaluator.fold.Tracked(), mostRefreshed
	p = &page{from: c.placeOf(t), recopies: tracked.Recopies(ref, t)}
	if p.recopies {
		most = mostRecopied
	}
	most = min(most, c.evaluator.cfg.WindowEvents, c.links.most)
	p.links, err = c.evaluator.listLinks(ctx, ref, t.Identifier, t.After, most)
	if err != nil || !p.recopies {
		return p, err
	}
	held := make([]keys.Key, len(p.links))
	for i := range p.links {
		held[i] = p.links[i].Key
	}
	p.rows, err = tracked.Stored(ctx, ref, held)
	p.links = p.links[:len(p.rows)]
	return p, err
}

// commit applies the batch that a page has made, and reads the next page meanwhile.
func (c refresher) commit(ctx context.Context, b querydb.Batch, t cascade.Task, p *page) error {
	if !p.recopies || c.state.Tasks.Len() > 1 {
		return c.apply(ctx, b)
	}
	read := make(chan *page, 1)
	go func() {
		defer close(read)
		read <- c.readAhead(ctx, &t, p.links[0].Reference)
	}()
	defer func() { c.ahead = <-read }()
	return c.apply(ctx, b)
}

// readAhead reads the page at which the task stands, while the one before is committed; nil where it cannot, and where
// there is none of the reference. That commit does not change its rows: as long as the reference is the same, they are
// others. Any other commit of the projection throws the page away, and so does whoever reads anew what is on record.
func (c refresher) readAhead(ctx context.Context, t *cascade.Task, ref cascade.Reference) (p *page) {
	var err error
	defer func() {
		if err != nil || p != nil && len(p.links) == 0 {
			p = nil
		}
	}()
	defer usercode.Recovered(&err)
	p, err = c.read(ctx, t, ref)
	return p
}

// recopy is fold by replacing the copies in rows as they are stored; done is false where that is left to ops.
func (c refresher) recopy(ctx context.Context, t *cascade.Task, p *page) (b querydb.Batch, done bool, err error) {
	f := c.evaluator.fold
	f.Reset(false)
	out, err := f.Tracked().Recopy(ctx, p.links[0].Reference, p.rows, t)
	if err != nil || out.Done == 0 {
		return b, false, err
	}
	t.After = p.links[out.Done-1].id
	t.Succeeded += len(out.Writes)
	b = querydb.Batch{Writes: out.Writes}
	for i := range p.rows[:out.Done] { // no other process writes them: see Tracked.Recopies
		if p.rows[i].Record == nil {
			b.Notes = append(b.Notes, p.links[i].Removal(c.state.Done().Kind(checkpoint.KindLink, c.projection.Name)))
		}
	}
	return b, true, nil
}
