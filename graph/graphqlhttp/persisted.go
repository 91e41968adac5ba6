package graphqlhttp

import (
	"encoding/json"
	"net/http"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/trusted"
)

// persisted finds documents that are asked by an identifier: those that the server was given, and those that clients
// have sent with their hash before (automatic persisted queries). It refuses documents that are not to be answered.
type persisted struct {
	documents func() *trusted.Documents
	untrusted func(r *http.Request, operationName, document string) bool
	learned   queryTexts // by their hashes
}

func newPersisted(cfg Config) *persisted {
	return &persisted{
		documents: cfg.Documents, untrusted: cfg.Untrusted, learned: queryTexts{limit: cfg.CacheBytes / 8},
	}
}

// persistedQuery is the extension of automatic persisted queries.
const persistedQuery = "persistedQuery"

// notFound is the message by which clients of automatic persisted queries know that they are to send the document.
const notFound = "PersistedQueryNotFound"

// find gives the parameters the document that they identify, and refuses one that is not to be answered.
func (d *persisted) find(r *http.Request, p *params) *gqlerror.Error {
	hash, err := hashIn(p.Extensions)
	if err != nil {
		return err
	}
	given := d.documents()
	switch {
	case p.documentID != "":
		text, ok := given.Text(p.documentID)
		if !ok {
			return coded(graphqlerr.DocumentNotFound, "this server has no document %.100q", p.documentID)
		}
		p.Query = text
		return nil
	case hash != "" && p.Query == "":
		text, ok := given.Text(hash)
		if !ok {
			if p.known = d.learned.get([]byte(hash)); p.known == nil {
				return coded(graphqlerr.DocumentNotFound, notFound)
			}
			text = p.known.query
		}
		p.Query = text
	case hash != "" && trusted.Hash(p.Query) != "sha256:"+hash:
		return coded(graphqlerr.BadUserInput, "extensions.persistedQuery.sha256Hash is not the hash of the query")
	case hash != "":
		p.learns = hash
	}
	if d.untrusted != nil && !given.Has(p.Query) && !d.untrusted(r, p.OperationName, p.Query) {
		return coded(graphqlerr.Untrusted, "this server answers no other documents than those that it was given")
	}
	return nil
}

// learn keeps a document that came with its hash, and fits the schema.
func (d *persisted) learn(p *params) {
	if p.learns != "" {
		d.learned.put(p.learns, p.Query)
	}
}

// hashIn is the hash in the extension of automatic persisted queries; "" where there is none.
func hashIn(extensions map[string]any) (hash string, err *gqlerror.Error) {
	extension := extensions[persistedQuery]
	if extension == nil {
		return "", nil
	}
	members, _ := extension.(map[string]any)
	version, _ := members["version"].(json.Number)
	hash, _ = members["sha256Hash"].(string)
	if version != "1" || hash == "" {
		return "", coded(graphqlerr.BadUserInput, "extensions.persistedQuery must have version 1 and a sha256Hash")
	}
	return hash, nil
}
