package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/foldql/foldql/server/internal/backup"
	"github.com/foldql/foldql/server/internal/client"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/sources"
	"github.com/foldql/foldql/server/internal/stores"
)

// Backup copies the rows and the log to a directory: those of a running server, or of a store.
type Backup struct {
	Dir string `arg:"" help:"Directory that is made, and has the backup once all of it is there."`
	client.Server
	StoreOptions
}

// Run makes the backup.
func (c *Backup) Run(ctx context.Context, p *Program) error {
	if err := config.CheckDirectory("dir", c.Dir); err != nil {
		return err
	}
	stream := c.remote
	if c.Store != "" {
		stream = c.offline
	} else if err := p.RefuseWithoutStore(StoreFlags()...); err != nil {
		return err
	}
	from, err := stream(ctx, p)
	if err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	m, err := backup.Receive(from, c.Dir)
	if err = errors.Join(err, from.Close()); err != nil {
		return fmt.Errorf("back up to %s: %w", c.Dir, err)
	}
	fmt.Fprintf(p.Stdout, "%s has the %s as of %s, %d bytes; 'server restore' puts it back\n", c.Dir, partsOf(m),
		m.Taken.Format("2006-01-02T15:04:05Z"), m.Bytes())
	return nil
}

// idle is how long a server may send nothing. Before it begins to send it may have to copy stores of terabytes, where
// they are not on the disk of the data directory; then it reads one file at a time.
var idle = client.Idle{First: 6 * time.Hour, Next: 10 * time.Minute}

func (c *Backup) remote(ctx context.Context, _ *Program) (io.ReadCloser, error) {
	from, err := c.Server.Client()
	if err != nil {
		return nil, err
	}
	sent, err := from.StreamWithin(ctx, "/admin/backup", []byte("{}"), idle)
	if err != nil {
		return nil, err
	}
	return received{sent}, nil
}

// received is the stream of a backup from a server, which cannot say amid it why it gives the backup up.
type received struct{ io.ReadCloser }

// Read implements io.Reader.
func (r received) Read(b []byte) (int, error) {
	n, err := r.ReadCloser.Read(b)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%w; if the server gave it up, its log says why", err)
	}
	return n, err
}

// offline streams the backup of a store that no server has open.
func (c *Backup) offline(ctx context.Context, p *Program) (io.ReadCloser, error) {
	o, err := c.StoreOptions.OpenMatching(ctx, p)
	if err != nil {
		return nil, err
	}
	sender := &backup.Sender{Parts: BackupParts(o.Rows, o.Source)}
	taken, err := sender.Snapshot(ctx)
	if err != nil {
		return nil, errors.Join(err, o.Close())
	}
	from, to := io.Pipe()
	s := &sending{PipeReader: from, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		err := taken.Send(ctx, to)
		s.err = errors.Join(taken.Remove(), o.Close())
		to.CloseWithError(errors.Join(err, s.err))
	}()
	return s, nil
}

// sending is the stream of a backup that this process makes.
type sending struct {
	*io.PipeReader
	ended chan struct{}
	err   error // of what is to be done in the end
}

// Close returns when the store is closed, and the copy of it removed.
func (s *sending) Close() error {
	_ = s.PipeReader.Close() // has no errors
	<-s.ended
	return s.err
}

// BackupParts are what of the rows and the events can be backed up: what is kept on this machine.
func BackupParts(rows *stores.Rows, src *sources.Source) (parts []backup.Part) {
	if at, ok := rows.Driver.(backup.Store); ok && rows.Dir != "" {
		parts = append(parts, backup.Part{Name: backup.Rows, Store: at, Dir: rows.Dir})
	}
	if at, ok := src.Log.(backup.Store); ok && src.Dir != "" {
		parts = append(parts, backup.Part{Name: backup.Log, Store: at, Dir: src.Dir})
	}
	if src.Mirror != nil {
		parts = append(parts, backup.Part{Name: backup.Mirror, Store: src.Mirror, Dir: src.Dir})
	}
	return parts
}

// partsOf names the parts of a backup.
func partsOf(m *backup.Manifest) string {
	var names []string
	for _, part := range []struct{ name, words string }{
		{backup.Rows, "rows"}, {backup.Log, "the log"}, {backup.Mirror, "the copy of the events"},
	} {
		if m.Has(part.name) {
			names = append(names, part.words)
		}
	}
	return strings.TrimPrefix(strings.Join(names, " and "), "the ")
}
