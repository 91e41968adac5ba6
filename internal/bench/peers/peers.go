// Package peers holds the servers that foldql is measured beside, and what all of them are asked.
package peers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"

	"github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/pebblestore"
	"github.com/foldql/foldql/server"
)

// ServePeer is the life of a peer that runs inside of this program: it opens the data, prints its address, and answers
// until the context ends.
func ServePeer(ctx context.Context, name, dir string, cacheMB int) (err error) {
	server.TuneGC() // so that memory is worth as much to each of them
	answers, data, err := openPeer(ctx, name, dir, cacheMB)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: answers}
	go func() {
		<-ctx.Done()
		_ = srv.Close() // the process ends with it
	}()
	fmt.Println(listener.Addr())
	if err := srv.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// CacheMB is the cache of the store: the default of the server.
const CacheMB = 256

// openPeer makes the named peer over the data, which are to be closed after it.
func openPeer(ctx context.Context, name, dir string, cacheMB int) (http.Handler, io.Closer, error) {
	quiet := slog.New(slog.DiscardHandler)
	store, err := pebblestore.Open(pebblestore.Options{
		Dir: filepath.Join(dir, "rows"), CacheBytes: int64(cacheMB) << 20, Logger: quiet,
	})
	if err != nil {
		return nil, nil, err
	}
	if name == "match" {
		return matches{store}.handler(), store, nil
	}
	db, err := querydb.Open(ctx, store, model.All, querydb.Config{Logger: quiet})
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	answers, err := ofShop(ctx, name, db)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return answers, db, nil
}

// ofShop makes a peer that answers the questions of the shop.
func ofShop(ctx context.Context, name string, db *querydb.DB) (http.Handler, error) {
	switch name {
	case "handwritten":
		return handwritten{db}.handler(), nil
	case "memory":
		rows, err := loadMemory(ctx, db)
		if err != nil {
			return nil, fmt.Errorf("read the shop into memory: %w", err)
		}
		return rows.handler(), nil
	case "plain":
		return plain{db}.handler(), nil
	case "canned":
		return canned(handwritten{db}.handler())
	}
	return nil, fmt.Errorf("there is no peer %q", name)
}

// canned answers every question with the bytes of one true answer: what is left is net/http.
func canned(answers http.Handler) (http.Handler, error) {
	mux := http.NewServeMux()
	for _, q := range Questions {
		w := httptest.NewRecorder()
		answers.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/"+q.Name,
			bytes.NewReader(q.Body(rand.New(rand.NewPCG(7, 7))))))
		if w.Code != http.StatusOK {
			return nil, fmt.Errorf("make the canned answer of %s: %s", q.Name, w.Body)
		}
		answer, length := w.Body.Bytes(), w.Header()["Content-Length"]
		mux.HandleFunc("POST /"+q.Name, func(w http.ResponseWriter, _ *http.Request) {
			h := w.Header()
			h["Content-Type"], h["Content-Length"] = contentType, length
			_, _ = w.Write(answer)
		})
	}
	return mux, nil
}
