package search

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/foldql/foldql/eventlog"
)

// FormatPosition is how people write a position: PARTITION:OFFSET of every partition, by their names, separated by
// commas, as in "0:17" or "items:9,orders:3". Names are escaped as in the query of a URL.
func FormatPosition(at eventlog.Offsets) string {
	parts := make([]string, 0, len(at))
	for _, partition := range slices.Sorted(maps.Keys(at)) {
		parts = append(parts, url.QueryEscape(partition)+":"+strconv.FormatUint(at[partition], 10))
	}
	return strings.Join(parts, ",")
}

var errPosition = errors.New("want PARTITION:OFFSET, as in 0:17, or several separated by commas")

// ParsePosition reads what FormatPosition writes.
func ParsePosition(text string) (eventlog.Offsets, error) {
	at := eventlog.Offsets{}
	for part := range strings.SplitSeq(text, ",") {
		partition, offset, ok := ParseRef(part)
		if !ok {
			return nil, fmt.Errorf("position %.100q: %w", part, errPosition)
		}
		if _, twice := at[partition]; twice {
			return nil, fmt.Errorf("position %.100q: partition %.100q is given twice", text, partition)
		}
		at[partition] = offset
	}
	return at, nil
}

// ParseRef reads the name of one event by its place: PARTITION:OFFSET, or PARTITION@OFFSET as dead letters have it.
func ParseRef(text string) (partition string, offset uint64, ok bool) {
	i := strings.LastIndexAny(text, ":@")
	if i < 0 {
		return "", 0, false
	}
	offset, err := strconv.ParseUint(text[i+1:], 10, 64)
	if err != nil {
		return "", 0, false
	}
	if partition = text[:i]; text[i] == '@' { // where the name stands as it is
		return partition, offset, true
	}
	partition, err = url.QueryUnescape(partition)
	return partition, offset, err == nil
}
