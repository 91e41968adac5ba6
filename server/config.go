package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/foldql/foldql/auth"
	"github.com/foldql/foldql/graph/graphqlhttp"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

// places are the options of every command that opens a store.
type places struct {
	Store     string `help:"Where rows are kept: embedded:DIR, dynamodb:PREFIX?region=NAME&endpoint=URL&concurrency=N, or memory: to try things out." default:"embedded:./data" group:"Data"`
	Events    string `help:"Where events come from: log: is the log beside the rows (./data where they are in DynamoDB), log:DIR another one, file:PATH a file (.jsonl, .jsonl.gz; - is standard input)." default:"log:" group:"Data"`
	CacheMB   int64  `help:"Memory for the cache of an embedded store, in MiB." default:"256" group:"Data"`
	ReserveMB int64  `help:"Free disk space that is left alone, in MiB: below it events are refused, and nothing is folded, until there is more." default:"128" group:"Data"`
	MemoryMB  int64  `help:"Size of Go's memory near which the garbage collector works harder, in MiB; 0 to take twice the cache in all, and no less than 512." default:"0" group:"Data"`
}

// largestCacheMB is a tebibyte: whoever asks for more has written something else than mebibytes.
const largestCacheMB = 1 << 20

func (p *places) parse() (storePlace, sourcePlace, error) {
	store, err := parseStore(p.Store)
	if err != nil {
		return storePlace{}, sourcePlace{}, err
	}
	if p.CacheMB < 1 || p.CacheMB > largestCacheMB {
		return storePlace{}, sourcePlace{}, wrongConfig("cache-mb", "%d is out of bounds; give 1 at least, and %d at most", p.CacheMB, largestCacheMB)
	}
	if p.MemoryMB != 0 && p.MemoryMB <= p.CacheMB {
		return storePlace{}, sourcePlace{}, wrongConfig("memory-mb", "%d is not more than the cache alone may take (%d); give more, or a smaller cache-mb",
			p.MemoryMB, p.CacheMB)
	}
	if p.ReserveMB < 1 || p.ReserveMB > largestReserveMB {
		return storePlace{}, sourcePlace{}, wrongConfig("reserve-mb", "%d is out of bounds; give 1 at least, and %d at most", p.ReserveMB, largestReserveMB)
	}
	source, err := parseSource(p.Events)
	return store, source, err
}

// largestReserveMB is an exbibyte, which no file system has.
const largestReserveMB = 1 << 40

// reserve is the free space that is left alone, in bytes.
func (p *places) reserve() uint64 { return uint64(p.ReserveMB) << 20 }

// folding are the options of every command that folds.
type folding struct {
	MaxOps         int           `help:"Ops that a projector may return for one event; with more, it becomes a dead letter." default:"10000" group:"Data"`
	MaxRowBytes    int           `help:"Bytes of rows that one event may write; with more, it becomes a dead letter." default:"67108864" group:"Data"`
	MaxDeadLetters int           `help:"Share in percent of the last 1,000 events of a projection that may become dead letters, 1 to 100, 100 for no bound; with more, and 100 at least, it stops." default:"50" group:"Data"`
	Window         int           `help:"Events that a projection commits at once, at most: fewer are less to do again after a crash, more are faster." default:"4096" group:"Data"`
	ProjectTimeout time.Duration `help:"Time that the code of a projection may take for one event; beyond it the projection stops, and names the event." default:"30s" group:"Data"`
	CommitWithin   time.Duration `help:"Time after which a commit to DynamoDB is given up, and its events folded again: 12 hours at most, because deleted rows are forgotten some day." default:"10m" group:"Data"`
}

// longestCommit is what a Runner allows.
const longestCommit = 12 * time.Hour

// runner is the configuration of a Runner that the options ask for.
func (f *folding) runner(log *slog.Logger) (projection.RunnerConfig, error) {
	if f.Window < 1 {
		return projection.RunnerConfig{}, wrongConfig("window", "%d is too little; give 1 at least", f.Window)
	}
	if f.MaxOps < 1 {
		return projection.RunnerConfig{}, wrongConfig("max-ops", "%d is too little; give 1 at least", f.MaxOps)
	}
	if f.MaxRowBytes < querydb.MaxRowSize {
		return projection.RunnerConfig{}, wrongConfig("max-row-bytes", "%d is less than a single row may have; give %d at least",
			f.MaxRowBytes, querydb.MaxRowSize)
	}
	if f.MaxDeadLetters < 1 || f.MaxDeadLetters > 100 {
		return projection.RunnerConfig{}, wrongConfig("max-dead-letters", "%d is no share; give 1 to 100 percent, 100 for no bound",
			f.MaxDeadLetters)
	}
	if f.CommitWithin <= 0 || f.CommitWithin > longestCommit {
		return projection.RunnerConfig{}, wrongConfig("commit-within", "%s is out of bounds; give more than 0s, and %s at most",
			f.CommitWithin, longestCommit)
	}
	if f.ProjectTimeout <= 0 {
		return projection.RunnerConfig{}, wrongConfig("project-timeout", "%s is too little; give more than 0s", f.ProjectTimeout)
	}
	return projection.RunnerConfig{
		Window: f.Window, EventTimeout: f.ProjectTimeout, CommitWithin: f.CommitWithin, MaxOps: f.MaxOps, MaxRowBytes: f.MaxRowBytes,
		MaxDeadLetters: f.MaxDeadLetters, Logger: log,
	}, nil
}

// jwtOptions say how callers prove who they are.
type jwtOptions struct {
	Auth            string        `help:"on: the rules of the schema hold; off: everybody may read everything." enum:"on,off" default:"on" group:"Who may read"`
	JWTSecret       string        `name:"jwt-secret" help:"Secret of HS256 tokens, 32 bytes at least; better given by its variable, or by a file." group:"Who may read"`
	JWTSecretFile   string        `name:"jwt-secret-file" help:"File that holds the secret; a line break at its end does not count." placeholder:"FILE" group:"Who may read"`
	JWTJWKS         string        `name:"jwt-jwks" help:"File or address of the JSON Web Key Set of the issuer." placeholder:"FILE|URL" group:"Who may read"`
	JWTAlgorithms   []string      `name:"jwt-algorithms" help:"Accepted algorithms; HS256 with a secret, and every asymmetric one with a key set by default." group:"Who may read"`
	JWTIssuer       string        `name:"jwt-issuer" help:"Issuer that tokens must be of." group:"Who may read"`
	JWTAudience     []string      `name:"jwt-audience" help:"Audiences, one of which tokens must be for." group:"Who may read"`
	JWTLeeway       time.Duration `name:"jwt-leeway" help:"How far the clock of the issuer may be from ours." default:"30s" group:"Who may read"`
	JWTKeysExpire   time.Duration `name:"jwt-keys-expire-after" help:"How long the keys of a key set that cannot be read any more are good after it was last read." default:"1h" group:"Who may read"`
	JWTSubjectClaim string        `name:"jwt-subject-claim" help:"Claim that names the caller; dots lead into objects." default:"sub" group:"Who may read"`
	JWTGroupsClaims []string      `name:"jwt-groups-claims" help:"Claims that list the groups of the caller." default:"groups,cognito:groups" group:"Who may read"`
}

// longestLeeway is more than clocks differ by: tokens that are long expired are not to be accepted for a slip of the pen.
const longestLeeway = time.Hour

// Bounds of the time that keys serve which cannot be read again: long enough for the issuer to start anew, and short enough
// for keys that it has withdrawn.
const (
	shortestKeys = time.Minute
	longestKeys  = 7 * 24 * time.Hour
)

// verifier makes the verifier that the options ask for, nil where they ask for none.
func (o *jwtOptions) verifier(ctx context.Context, log *slog.Logger) (*auth.Verifier, error) {
	if o.Auth == "off" {
		return nil, nil
	}
	if o.JWTLeeway < 0 || o.JWTLeeway > longestLeeway {
		return nil, wrongConfig("jwt-leeway", "%s is out of bounds; give 0s at least, and %s at most", o.JWTLeeway, longestLeeway)
	}
	if o.JWTKeysExpire < shortestKeys || o.JWTKeysExpire > longestKeys {
		return nil, wrongConfig("jwt-keys-expire-after", "%s is out of bounds; give %s at least, and %s at most",
			o.JWTKeysExpire, shortestKeys, longestKeys)
	}
	secret, err := secretOf("jwt-secret", o.JWTSecret, o.JWTSecretFile)
	if err != nil {
		return nil, err
	}
	if secret == "" && o.JWTJWKS == "" {
		return nil, nil
	}
	v, err := auth.NewVerifier(ctx, auth.Config{
		Secret: []byte(secret), JWKS: o.JWTJWKS, Algorithms: o.JWTAlgorithms,
		Issuer: o.JWTIssuer, Audience: o.JWTAudience, Leeway: o.JWTLeeway, KeysExpireAfter: o.JWTKeysExpire,
		SubjectClaim: o.JWTSubjectClaim, GroupsClaims: o.JWTGroupsClaims, Logger: log,
	})
	if err != nil {
		key := "jwt-jwks"
		if secret != "" {
			key = "jwt-secret"
		}
		return nil, wrongConfig(key, "%w", err)
	}
	return v, nil
}

// secretOf is a secret that is given by itself or in a file.
func secretOf(key, value, file string) (string, error) {
	if file == "" {
		return value, nil
	}
	if value != "" {
		return "", wrongConfig(key, "it is given twice, by itself and by %s-file; drop one of them", key)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", wrongConfig(key+"-file", "%w", err)
	}
	secret := strings.TrimRight(string(text), "\r\n")
	if secret == "" {
		return "", wrongConfig(key+"-file", "%s is empty", file)
	}
	return secret, nil
}

// writeToken is the secret of those who may append events and mend projections.
type writeToken struct {
	WriteToken     string `help:"Token of those who may append events and see to projections; better given by its variable, or by a file." group:"Who may write"`
	WriteTokenFile string `help:"File that holds the token." placeholder:"FILE" group:"Who may write"`
}

func (o *writeToken) get() (string, error) {
	token, err := secretOf("write-token", o.WriteToken, o.WriteTokenFile)
	unsendable := func(r rune) bool { return r < ' ' || r > '~' }
	if err == nil && (strings.ContainsFunc(token, unsendable) || strings.TrimSpace(token) != token) {
		return "", wrongConfig("write-token", "a header cannot carry it; use letters, digits and ASCII punctuation")
	}
	return token, err
}

// limits bound what one request may cost.
type limits struct {
	MaxBody       int64         `help:"Bytes of a GraphQL request." default:"1048576" group:"Limits"`
	MaxDepth      int           `help:"How deep a query may be nested." default:"20" group:"Limits"`
	MaxTokens     int           `help:"Tokens of a query." default:"5000" group:"Limits"`
	MaxAliases    int           `help:"Aliases in a query." default:"100" group:"Limits"`
	MaxRootFields int           `help:"Queries that one request may ask." default:"20" group:"Limits"`
	MaxFields     int           `help:"Fields of a query." default:"2000" group:"Limits"`
	MaxValues     int           `help:"Values in the variables of a request." default:"10000" group:"Limits"`
	MaxAnswer     int           `help:"Bytes of an answer; it may have an object for every 256 of them, and an error for every 2048." default:"33554432" group:"Limits"`
	MaxRead       int64         `help:"Bytes of rows that are read for one request." default:"33554432" group:"Limits"`
	MaxEventsBody int64         `help:"Bytes of a request with events." default:"16777216" group:"Limits"`
	MaxEvent      int           `help:"Bytes of one event." default:"262144" group:"Limits"`
	Timeout       time.Duration `help:"Time that a query may take." default:"30s" group:"Limits"`

	MaxInflightBytes int64         `help:"Bytes that large requests take while they are answered, all together." default:"104857600" group:"Limits"`
	MaxConnections   int           `help:"Connections, all together." default:"1024" group:"Limits"`
	WriteTimeout     time.Duration `help:"Time in which a client has to receive 64 KiB of an answer." default:"10s" group:"Limits"`
}

func (l *limits) validate() error {
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
		{"max-read", l.MaxRead},
		{"max-inflight-bytes", l.MaxInflightBytes},
		{"max-connections", int64(l.MaxConnections)},
		{"write-timeout", int64(l.WriteTimeout)},
		{"max-events-body", l.MaxEventsBody},
		{"max-event", int64(l.MaxEvent)},
		{"timeout", int64(l.Timeout)},
	} {
		if limit.value <= 0 {
			return wrongConfig(limit.key, "a limit must be above 0")
		}
	}
	if least := graphqlhttp.LeastMemory(l.MaxBody, l.MaxRead, int64(l.MaxAnswer)); l.MaxInflightBytes < least {
		return wrongConfig("max-inflight-bytes", "%d is less than one request may take; give %d at least, or lower max-read or max-answer",
			l.MaxInflightBytes, least)
	}
	return nil
}

// serveCommand is the configuration of `serve`.
type serveCommand struct {
	Listen string `help:"Address to listen at." default:"127.0.0.1:8080"`
	places
	folding
	Sample bool `help:"Append the sample events of the project to an empty log." group:"Data"`

	Playground    bool `help:"Serve GraphiQL at /." default:"true" negatable:"" group:"API"`
	Introspection bool `help:"Answer questions about the schema." default:"true" negatable:"" group:"API"`
	Accelerate    bool `help:"Answer generated queries by compiled plans; without, by resolvers only." default:"true" negatable:"" group:"API"`

	CORSOrigins []string `name:"cors-origins" help:"Origins whose pages may query the API, * for any; none by default." placeholder:"ORIGIN" group:"API"`

	jwtOptions
	writeToken
	exposure
	limits

	DrainDelay   time.Duration `help:"Time between being not ready and closing the listener, for load balancers to notice." default:"0s" group:"Lifecycle"`
	DrainTimeout time.Duration `help:"Time that requests in flight and projections have to finish." default:"30s" group:"Lifecycle"`
	ReadyLag     uint64        `help:"Events that a projection may be behind and be ready." default:"500" group:"Lifecycle"`
}

// validate checks all that can be checked before anything is opened.
func (c *serveCommand) validate() error {
	if c.DrainDelay < 0 || c.DrainTimeout < 0 {
		return wrongConfig("drain-delay, drain-timeout", "a time must not be negative")
	}
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		return wrongConfig("listen", "%w; write host:port, such as 127.0.0.1:8080", err)
	}
	for _, o := range c.CORSOrigins {
		if err := checkOrigin(o); err != nil {
			return wrongConfig("cors-origins", "%w", err)
		}
	}
	if err := c.exposure.validate(); err != nil {
		return err
	}
	return c.limits.validate()
}

// checkOrigin wants an origin as browsers send it, because they are compared as texts.
func checkOrigin(origin string) error {
	if origin == "*" {
		return nil
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Scheme+"://"+u.Host != origin {
		return fmt.Errorf("%q is no origin; write scheme, host and port only, such as https://app.example.com", origin)
	}
	return nil
}

// unlocked are those who write where there is no write token: on loopback those on this machine.
func (c *serveCommand) unlocked() Writes {
	if loopback(c.Listen) {
		return WritesLocal
	}
	return WritesUndecided
}

// undecidedWriters refuses to let everybody write.
func undecidedWriters(listen string) error {
	return wrongConfig("write-token", "listening at %s, anybody could append events: set a write token "+
		"(FOLDQL_WRITE_TOKEN, or --write-token-file), or listen on loopback only (--listen 127.0.0.1:8080)", listen)
}

// loopback reports whether only this machine can reach the address.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	host, _, _ = strings.Cut(host, "%") // the zone of an IPv6 address
	return isLoopback(host)
}

// checkReaders refuses to serve a schema with rules where nobody can be told from anybody.
func checkReaders(secured, verified, off bool) error {
	if !secured || verified || off {
		return nil
	}
	return configError{errors.New("jwt-secret, jwt-jwks: the schema says who may read what, and there is nothing to verify " +
		"callers with: set one of the two, or --auth=off to let everybody read everything")}
}
