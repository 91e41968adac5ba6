package graphqlhttp

import (
	"mime"
	"strconv"
	"strings"
)

// The media types of answers.
const (
	jsonType     = "application/json"
	responseType = "application/graphql-response+json"
)

// maxRanges is how many ranges of an Accept header are looked at. A header has room for 40,000, which take 90 ms to
// read, and no client sends as many.
const maxRanges = 50

// maxRangeBytes is how long a range of an Accept header is that is looked at. One with 125 KB of parameters takes 20 ms
// to read.
const maxRangeBytes = 1 << 10

// negotiate chooses the media type of the answer: the one that the Accept header gives more weight, or names more
// precisely, or names first. Without a preference it is JSON, which clients of every age understand.
func negotiate(accept []string) (mediaType string, ok bool) {
	if len(accept) == 0 {
		return jsonType, true
	}
	if len(accept) == 1 {
		switch accept[0] { // what most clients send
		case "", "*/*", jsonType:
			return jsonType, true
		case responseType:
			return responseType, true
		}
	}
	var ours = [...]struct {
		mediaType string
		match     match
	}{{mediaType: jsonType}, {mediaType: responseType}}
	order := 0
	for part := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		if order++; order > maxRanges {
			break
		}
		name, weight, ok := parseRange(part)
		if !ok {
			continue
		}
		for i := range ours {
			if p := precision(name, ours[i].mediaType); p > ours[i].match.precision {
				ours[i].match = match{weight, p, -order}
			}
		}
	}
	best := ours[0]
	if ours[1].match.better(best.match) {
		best = ours[1]
	}
	return best.mediaType, best.match.weight > 0
}

// match is how a media type stands in an Accept header.
type match struct {
	weight    float64
	precision int // of the most precise range that has it: 3 its name, 2 its kind, 1 anything, 0 none
	order     int // greater is earlier
}

func (m match) better(other match) bool {
	switch {
	case m.weight != other.weight:
		return m.weight > other.weight
	case m.precision != other.precision:
		return m.precision > other.precision
	}
	return m.order > other.order
}

func precision(name, mediaType string) int {
	switch name {
	case mediaType:
		return 3
	case "application/*":
		return 2
	case "*/*":
		return 1
	}
	return 0
}

// parseRange reads one range of an Accept header. ok is false where it is not one, or of another charset than ours.
func parseRange(text string) (name string, weight float64, ok bool) {
	if len(text) > maxRangeBytes {
		return "", 0, false
	}
	name, params, err := mime.ParseMediaType(text)
	if err != nil || !isUTF8(params["charset"]) {
		return "", 0, false
	}
	q, given := params["q"]
	if !given {
		return name, 1, true
	}
	weight, err = strconv.ParseFloat(q, 64)
	return name, weight, err == nil && 0 <= weight && weight <= 1
}

func isUTF8(charset string) bool { return charset == "" || strings.EqualFold(charset, "utf-8") }
