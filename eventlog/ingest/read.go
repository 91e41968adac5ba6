package ingest

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
)

// mode is how a request carries events.
type mode int

const (
	structured mode = iota + 1
	batch
	binary
)

// modeOf tells the mode by the headers.
func modeOf(h http.Header) (mode, *problem) {
	if e := h.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return 0, unsupportedMedia("the body must not have a content encoding")
	}
	media, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		return 0, unsupportedMedia("the Content-Type is missing or not a media type")
	}
	if c, ok := params["charset"]; ok && !strings.EqualFold(c, "utf-8") {
		return 0, unsupportedMedia("the charset must be utf-8")
	}
	switch {
	case media == cloudevents.StructuredType:
		return structured, nil
	case media == cloudevents.BatchType:
		return batch, nil
	case strings.HasPrefix(media, "application/cloudevents"):
		return 0, unsupportedMedia("events are taken in the JSON format only")
	case !cloudevents.IsBinary(h):
		return 0, unsupportedMedia("this is no CloudEvent: it has neither a media type of CloudEvents nor ce- headers")
	case media == "application/json" || strings.HasSuffix(media, "+json"):
		return binary, nil
	}
	return 0, unsupportedMedia("the data of an event must be JSON")
}

// read reads the events of the request.
func (h *handler) read(w http.ResponseWriter, r *http.Request) ([]eventlog.Event, *problem) {
	how, bad := modeOf(r.Header)
	if bad != nil {
		return nil, bad
	}
	most := h.cfg.MaxBodyBytes
	if how != batch {
		most = int64(h.decoder.Limit()) // of an event that is too large, no more is looked at
	}
	body, bad := h.body(w, r, most)
	if bad != nil {
		return nil, bad
	}
	if how == batch {
		events, err := h.decoder.DecodeBatch(r.Context(), body)
		return events, undecodable(err, true)
	}
	var e eventlog.Event
	var err error
	if how == structured {
		e, err = h.decoder.Decode(body)
	} else {
		e, err = h.decoder.DecodeBinary(r.Header, body)
	}
	return []eventlog.Event{e}, undecodable(err, false)
}

// body reads the body, but no more than one byte beyond the most. What is longer than a request may be is refused.
func (h *handler) body(w http.ResponseWriter, r *http.Request, most int64) ([]byte, *problem) {
	if r.ContentLength > h.cfg.MaxBodyBytes {
		return nil, bodyTooLarge(h.cfg.MaxBodyBytes)
	}
	body, err := io.ReadAll(io.LimitReader(http.MaxBytesReader(w, r.Body, h.cfg.MaxBodyBytes), most+1))
	var over *http.MaxBytesError
	if errors.As(err, &over) {
		return nil, bodyTooLarge(h.cfg.MaxBodyBytes)
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, tooSlow()
	case err != nil:
		return nil, incomplete()
	}
	return body, nil
}

// undecodable is the problem of an event that cannot be decoded.
func undecodable(err error, ofBatch bool) *problem {
	var bad *cloudevents.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return unavailable()
	case !errors.As(err, &bad):
		return internal(err)
	case errors.Is(err, cloudevents.ErrTooLarge):
		return eventTooLarge(bad.Index, bad.ID, bad.Reason)
	case ofBatch && bad.Index < 0:
		return invalidBatch(bad.Reason)
	}
	return invalidEvent(bad.Index, bad.ID, bad.Field, bad.Reason)
}
