package server

import (
	"errors"
	"sync"

	"github.com/foldql/foldql/querydb"
)

// folded are the stores with one writer that servers inside this program fold into now, by their *querydb.DB.
var folded sync.Map

// claim makes a server the only one inside this program that folds into a store, until it releases that. Of a store
// with one writer nothing else notices another: its commits are not conditional.
func claim(db *querydb.DB) (release func(), err error) {
	if db.MultiWriter() {
		return func() {}, nil
	}
	if _, taken := folded.LoadOrStore(db, struct{}{}); taken {
		return nil, errors.New("embed a server: another one folds into EmbedConfig.DB, and two would apply events twice: " +
			"end the context of the other, and call its Wait, before you embed this one")
	}
	return func() { folded.Delete(db) }, nil
}
