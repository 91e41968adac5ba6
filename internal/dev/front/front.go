package front

import (
	"context"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/foldql/foldql/graph/playground"
)

// StatusHeader is of answers to queries, and says where the state is read: GraphiQL, which the server serves, thereby
// knows that it is developed.
const StatusHeader = "Foldql-Dev-Status"

// Config says how a front answers; zero values mean the defaults.
type Config struct {
	// Patience is how long a request waits for a server that is about to come; 15 s by default.
	Patience time.Duration
	// ErrorLog is where is told what is wrong with connections; nowhere by default.
	ErrorLog *log.Logger
}

// Handler answers in front of the servers that the board names.
func Handler(board *Board, cfg Config) http.Handler {
	if cfg.Patience == 0 {
		cfg.Patience = 15 * time.Second
	}
	f := &front{board: board, patience: cfg.Patience, page: playground.Handler(playground.Config{})}
	f.proxy = httputil.ReverseProxy{
		Rewrite: handOn, ModifyResponse: announce, ErrorHandler: f.broken, FlushInterval: -1, ErrorLog: cfg.ErrorLog,
		Transport: &http.Transport{
			DialContext:        (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
			DisableCompression: true,             // answers pass as they are
			IdleConnTimeout:    30 * time.Second, // less than a server has
		},
	}
	mux := http.NewServeMux()
	mux.HandleFunc(StatusPath, f.status)
	mux.HandleFunc("/{$}", f.playground)
	mux.HandleFunc("/assets/", f.playground)
	mux.HandleFunc("/", f.forward)
	return mux
}

type front struct {
	board    *Board
	patience time.Duration
	page     http.Handler // GraphiQL, while there is no server that serves it
	proxy    httputil.ReverseProxy
}

// forward hands a request on to the server.
func (f *front) forward(w http.ResponseWriter, r *http.Request) {
	if !f.handedOn(w, r) {
		f.refuse(w, r)
	}
}

// playground answers with the server's page, or with one of its own while there is no server, so that what is wrong can
// be seen there.
func (f *front) playground(w http.ResponseWriter, r *http.Request) {
	if state, _ := f.board.State(); state.Serving || state.Starts > 0 {
		if f.handedOn(w, r) {
			return
		}
	}
	f.page.ServeHTTP(w, r)
}

// target is the key of the server that a request is handed on to, in the context of the request.
type target struct{}

// handedOn has the server answer, once there is one; it returns false where none comes.
func (f *front) handedOn(w http.ResponseWriter, r *http.Request) bool {
	wait, cancel := context.WithTimeout(r.Context(), f.patience)
	server, leave := f.board.enter(wait)
	cancel()
	if server == nil {
		return false
	}
	defer leave()
	f.proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), target{}, server)))
	return true
}

// perConnection are headers that are about the connection to this program, and not about the request.
var perConnection = []string{
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade",
}

// handOn addresses a request to the server. All by which the server decides who asks stays as it came, so that it
// answers nothing that it would refuse without this program in front of it.
func handOn(r *httputil.ProxyRequest) {
	r.SetURL(r.In.Context().Value(target{}).(*url.URL))
	r.Out.Host = r.In.Host
	r.Out.URL.RawQuery = r.In.URL.RawQuery  // of which httputil takes what it cannot read
	for name, values := range r.In.Header { // httputil takes those of proxies, and all that Connection names
		if !slices.Contains(perConnection, name) {
			r.Out.Header[name] = values
		}
	}
	if !r.In.ProtoAtLeast(1, 1) { // as a proxy sends it, and the server would not see otherwise
		r.Out.Header.Add("Via", "1.0 foldql-dev")
	}
}

// announce says in answers to queries where the state is read.
func announce(r *http.Response) error {
	if r.Request.URL.Path == graphqlPath {
		r.Header.Set(StatusHeader, StatusPath)
	}
	return nil
}

const graphqlPath = "/graphql"

// broken answers a request that the server has not answered.
func (f *front) broken(w http.ResponseWriter, r *http.Request, _ error) {
	if r.Context().Err() != nil { // the client has gone
		return
	}
	f.refuse(w, r)
}

// takes reports whether the client says that it takes a media type.
func takes(r *http.Request, mediaType string) bool {
	return strings.Contains(strings.Join(r.Header.Values("Accept"), ","), mediaType)
}
