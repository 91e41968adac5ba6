package keys

import "errors"

// ErrToken is any page token that is not ours, or not for this use.
var ErrToken = errors.New("keys: the page token is not valid here")
