package httpsource

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
	"github.com/foldql/foldql/internal/backoff"
)

// Source reads the events of another server. What the server does not answer is an error; whoever reads asks again.
type Source struct {
	base    string
	token   string
	client  *http.Client
	owned   bool // the client is the source's own
	decoder cloudevents.Decoder
	closed  context.Context // ends when the source is closed
	close   context.CancelFunc
	asking  sync.RWMutex  // held by whoever asks
	rest    time.Duration // before a server whose events have ended is asked again

	is    sync.Mutex
	known map[string]known // by partition
}

var (
	_ eventlog.Source            = (*Source)(nil)
	_ eventlog.RecreatableSource = (*Source)(nil)
	_ eventlog.SparseSource      = (*Source)(nil)
)

// Open opens a source. It asks nothing yet: a server that is away is an error of the first read.
func Open(o Options) (*Source, error) {
	u, err := url.Parse(o.URL)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, fmt.Errorf("httpsource: %q is no address of a server; write https://HOST:PORT", o.URL)
	case u.User != nil, strings.ContainsAny(o.URL, "?#"):
		return nil, errors.New("httpsource: the address of a server has no user, parameters or fragment; give a token apart")
	}
	client, err := o.client(u.Scheme == "https")
	if err != nil {
		return nil, fmt.Errorf("httpsource: open %s: %w", o.URL, err)
	}
	s := &Source{base: strings.TrimRight(o.URL, "/"), token: o.Token, client: client, owned: o.Client == nil,
		known: map[string]known{}, decoder: cloudevents.Decoder{MaxSize: o.MaxEventBytes}, rest: defaultRest}
	s.closed, s.close = context.WithCancel(context.Background())
	return s, nil
}

// Close ends what is being asked.
func (s *Source) Close() error {
	s.close()
	s.asking.Lock() // when nobody asks any more
	defer s.asking.Unlock()
	if s.owned {
		s.client.CloseIdleConnections()
	}
	return nil
}

// Partitions implements eventlog.Source.
func (s *Source) Partitions(ctx context.Context) ([]string, error) {
	all, err := s.partitions(ctx, nil)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.Name
	}
	for name := range s.whatIsKnown() {
		if !slices.Contains(names, name) {
			return nil, gone(name)
		}
	}
	return names, nil
}

// Head implements eventlog.Source.
func (s *Source) Head(ctx context.Context, name string) (uint64, error) {
	p, err := s.partition(ctx, name)
	return p.Head, err
}

// Incarnation implements eventlog.RecreatableSource.
func (s *Source) Incarnation(ctx context.Context, name string) (string, error) {
	p, err := s.partition(ctx, name)
	return p.Incarnation, err
}

// partition asks for one partition, of which an earlier version answers with all.
func (s *Source) partition(ctx context.Context, name string) (partition, error) {
	all, err := s.partitions(ctx, url.Values{"partition": {name}})
	for _, p := range all {
		if p.Name == name {
			return p, nil
		}
	}
	if err == nil {
		err = fmt.Errorf("httpsource: %s has no partition %q", s.base, name)
	}
	return partition{}, err
}

func (s *Source) partitions(ctx context.Context, q url.Values) ([]partition, error) {
	var answer partitionsAnswer
	if err := s.get(ctx, PartitionsPath, q, mostOfAnswer, &answer); err != nil {
		return nil, err
	}
	for _, p := range answer.Partitions {
		s.meet(p.Name, p.Incarnation)
	}
	return answer.Partitions, nil
}

// meet notes a partition that is new. One that is another than it was is noticed by who reads it.
func (s *Source) meet(name, incarnation string) {
	s.is.Lock()
	defer s.is.Unlock()
	if _, met := s.known[name]; !met {
		s.known[name] = known{Incarnation: incarnation}
	}
}

// learn notes what an answer tells of a partition.
func (s *Source) learn(name string, told known) (err error) {
	s.is.Lock()
	defer s.is.Unlock()
	s.known[name], err = s.known[name].with(name, told)
	return err
}

func (s *Source) knownOf(name string) known {
	s.is.Lock()
	defer s.is.Unlock()
	return s.known[name]
}

// whatIsKnown is what is known of all partitions.
func (s *Source) whatIsKnown() map[string]known {
	s.is.Lock()
	defer s.is.Unlock()
	return maps.Clone(s.known)
}

// Read implements eventlog.Source.
func (s *Source) Read(ctx context.Context, name string, after uint64, max int) ([]eventlog.Event, error) {
	if max < 1 {
		_, err := s.partition(ctx, name)
		return nil, err
	}
	answer, err := s.page(ctx, name, after, min(max, maxEvents))
	if err != nil {
		return nil, err
	}
	events := make([]eventlog.Event, len(answer.Events))
	for i := range answer.Events {
		p := &answer.Events[i]
		if p.Offset <= after || i >= max {
			return nil, fmt.Errorf("httpsource: read partition %q of %s after %d: the answer is out of order; is a foldql "+
				"server there?", name, s.base, after)
		}
		after = p.Offset
		events[i] = p.event(name, s.decoder)
	}
	return events, nil
}

// page asks for events after an offset.
func (s *Source) page(ctx context.Context, name string, after uint64, limit int) (answer eventsAnswer, err error) {
	q := url.Values{
		"partition": {name}, "after": {strconv.FormatUint(after, 10)}, "limit": {strconv.Itoa(limit)},
	}
	if k := s.knownOf(name); k != (known{}) {
		addKnown(q, k)
	}
	if err := s.get(ctx, EventsPath, q, mostOfAnswer, &answer); err != nil {
		return answer, lost(err, name, after)
	}
	return answer, s.learn(name, answer.Known)
}

// addKnown adds what is known to the parameters of a request.
func addKnown(q url.Values, what any) {
	text, err := json.Marshal(what)
	if err != nil {
		panic(err) // texts and numbers
	}
	q.Set("known", string(text))
}

// lost is the error of a source that a refusal stands for; any other stays as it is. Earlier versions do not say of
// which partition events are forgotten, which a read says by what it asks for, and a wait does not.
func lost(err error, partition string, after uint64) error {
	var r *refusal
	switch {
	case !errors.As(err, &r):
	case r.problem.Type == forgottenProblem && partition != "":
		return &eventlog.ForgottenError{Partition: partition, After: after, First: r.problem.First}
	case r.problem.Type == forgottenProblem && r.problem.Partition != "":
		return &eventlog.ForgottenError{Partition: r.problem.Partition, After: r.problem.After, First: r.problem.First}
	case r.problem.Type == replacedProblem:
		return &eventlog.ReplacedError{Partition: cmp.Or(r.problem.Partition, partition), Reason: r.problem.Detail}
	}
	return err
}

// EmptyThrough implements eventlog.SparseSource.
func (s *Source) EmptyThrough(ctx context.Context, name string, after uint64) (uint64, error) {
	answer, err := s.page(ctx, name, after, 1)
	if err != nil || len(answer.Events) == 0 {
		return max(after, answer.Through), err
	}
	return max(after, answer.Events[0].Offset-1), nil
}

// Wait implements eventlog.Source. Events that have ended, as those of a file have, may go on once the other server is
// started again.
func (s *Source) Wait(ctx context.Context, after eventlog.Offsets) error {
	text, err := json.Marshal(after)
	if err != nil {
		return err
	}
	if after == nil {
		text = []byte("{}")
	}
	q := url.Values{"after": {string(text)}, "seconds": {strconv.Itoa(int(longestWait / time.Second))}}
	for {
		var answer waitAnswer
		if all := s.whatIsKnown(); len(all) > 0 && len(all) <= mostKnown {
			addKnown(q, all)
		}
		asked := time.Now()
		err := s.wait(ctx, q, &answer)
		pause := look - time.Since(asked) // an earlier version that drains answers at once
		switch {
		case err != nil:
			return lost(err, "", 0)
		case answer.More:
			return nil
		case answer.Ended:
			pause = s.rest
		}
		if err := s.pause(ctx, pause); err != nil {
			return err
		}
	}
}

// pause waits before a server is asked again that has answered with nothing.
func (s *Source) pause(ctx context.Context, d time.Duration) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.closed, func() { cancel(eventlog.ErrClosed) })()
	return backoff.Wait(ctx, d)
}

// wait asks the server once. Parameters that are too long for an address are in the body of a POST, which an earlier
// version does not take: that is sent the offsets alone, and may take the address.
func (s *Source) wait(ctx context.Context, q url.Values, to *waitAnswer) error {
	if len(q.Encode()) <= longestQuery {
		return s.get(ctx, WaitPath, q, mostOfAnswer, to)
	}
	err := s.send(ctx, http.MethodPost, WaitPath, q, mostOfAnswer, to)
	var r *refusal
	if errors.As(err, &r) && (r.status == http.StatusMethodNotAllowed || r.status == http.StatusNotFound) {
		return s.get(ctx, WaitPath, url.Values{"after": q["after"], "seconds": q["seconds"]}, mostOfAnswer, to)
	}
	return err
}

func (s *Source) get(ctx context.Context, path string, q url.Values, most int64, to any) error {
	return s.send(ctx, http.MethodGet, path, q, most, to)
}

// send asks the server. Its answer has at most so many bytes.
func (s *Source) send(ctx context.Context, method, path string, q url.Values, most int64, to any) error {
	s.asking.RLock()
	defer s.asking.RUnlock()
	if s.closed.Err() != nil {
		return eventlog.ErrClosed
	}
	asked := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.closed, cancel)()
	err := s.ask(ctx, method, path, q, most, to)
	switch {
	case err == nil:
		return nil
	case asked.Err() != nil:
		return context.Cause(asked)
	case s.closed.Err() != nil:
		return eventlog.ErrClosed
	}
	return fmt.Errorf("httpsource: ask %s%s: %w", s.base, path, err)
}

func (s *Source) ask(ctx context.Context, method, path string, q url.Values, most int64, to any) error {
	ctx, progress := watch(ctx)
	defer progress.end()
	req, err := request(ctx, method, s.base+path, q)
	if err != nil {
		return err
	}
	if s.token != "" {
		req.Header.Set("Authorization", "Bearer "+s.token)
	}
	res, err := s.client.Do(req)
	if err != nil {
		return progress.why(withoutURL(err))
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(progress.of(res.Body), most+1))
	switch {
	case err != nil:
		return progress.why(err)
	case int64(len(text)) > most:
		return fmt.Errorf("the answer has more than %d bytes", most)
	case res.StatusCode != http.StatusOK:
		return refused(res.StatusCode, text)
	}
	if err := json.Unmarshal(text, to); err != nil {
		return fmt.Errorf("the answer is not understood; is a foldql server there? %w", err)
	}
	return nil
}

// request has its parameters in the address, or in the body of a POST.
func request(ctx context.Context, method, url string, q url.Values) (*http.Request, error) {
	if method != http.MethodPost {
		return http.NewRequestWithContext(ctx, method, url+"?"+q.Encode(), nil)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(q.Encode()))
	if err == nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header["Idempotency-Key"] = []string{} // not sent: the client may repeat it, as it may a GET
	}
	return req, err
}

// withoutURL leaves out what the message of an error says twice.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// refusal is an answer that is none of what was asked for.
type refusal struct {
	status  int
	problem problem
}

func refused(status int, text []byte) error {
	r := &refusal{status: status}
	_ = json.Unmarshal(text, &r.problem) // what stands between may answer something else
	return r
}

// Error implements error.
func (r *refusal) Error() string {
	switch {
	case r.status == http.StatusUnauthorized || r.status == http.StatusForbidden:
		return fmt.Sprintf("it answers %d: give the write token of that server as the token of events. %.300s", r.status,
			r.problem.Detail)
	case r.problem.Detail != "":
		return fmt.Sprintf("it answers %d: %.300s", r.status, r.problem.Detail)
	}
	return fmt.Sprintf("it answers %d %s", r.status, http.StatusText(r.status))
}
