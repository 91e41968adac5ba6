package trusted

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// apolloFormat is what a manifest of Apollo says that it is.
const apolloFormat = "apollo-persisted-query-manifest"

// Add adds the documents of a manifest, which is one of:
//
//   - an object of texts by identifier, as graphql-codegen (persistedDocuments) and relay-compiler (persistConfig)
//     write it; an identifier is "sha256:" and the hash of the text, text without a colon, or begins with "x-";
//   - a manifest of Apollo (@apollo/generate-persisted-query-manifest).
//
// Where it fails, which of the documents were added is not said.
func (d *Documents) Add(manifest []byte) error {
	var format struct {
		Format json.RawMessage `json:"format"`
	}
	if err := json.Unmarshal(manifest, &format); err != nil {
		return fmt.Errorf("a manifest is a JSON object: %w", err)
	}
	if bytes.Equal(format.Format, []byte(`"`+apolloFormat+`"`)) {
		return d.addApollo(manifest)
	}
	var texts map[string]string
	if err := json.Unmarshal(manifest, &texts); err != nil {
		return fmt.Errorf("a manifest is an object of texts by identifier, or has the format %q: %w", apolloFormat, err)
	}
	if len(texts) == 0 {
		return errors.New("the manifest has no documents")
	}
	for id, text := range texts {
		if err := d.put(id, text); err != nil {
			return err
		}
	}
	return nil
}

func (d *Documents) addApollo(manifest []byte) error {
	var m struct {
		Version    int `json:"version"`
		Operations []struct {
			ID   string `json:"id"`
			Body string `json:"body"`
		} `json:"operations"`
	}
	if err := json.Unmarshal(manifest, &m); err != nil {
		return fmt.Errorf("read a manifest of Apollo: %w", err)
	}
	if m.Version != 1 {
		return fmt.Errorf("a manifest of Apollo has version %d; this server knows version 1", m.Version)
	}
	if len(m.Operations) == 0 {
		return errors.New("the manifest has no documents")
	}
	for _, op := range m.Operations {
		if err := d.put(op.ID, op.Body); err != nil {
			return err
		}
	}
	return nil
}
