package natssource

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/nats-io/nats.go/jetstream"
)

// IdentityKey is where the metadata of a stream may say which log it is. A cluster gives a stream that is restored from
// a backup another time of creation, by which nobody can tell it from one that was made anew.
const IdentityKey = "foldql-identity"

var identities = regexp.MustCompile(`^[0-9A-Za-z_-]{1,64}$`)

// identityOf is the incarnation of a stream: what it says itself, or when it was created.
func identityOf(at *jetstream.StreamInfo) (string, error) {
	is, said := at.Config.Metadata[IdentityKey]
	switch {
	case !said:
		return strconv.FormatInt(at.Created.UnixNano(), 36), nil
	case !identities.MatchString(is):
		return "", fmt.Errorf("the metadata of the stream have %.80q as %s: give it 1 to 64 letters, digits, - and _", is,
			IdentityKey)
	}
	return is, nil
}
