package keys

import "errors"

// ErrInvalidToken is any page token that is not ours, or not for this use.
var ErrInvalidToken = errors.New("keys: the page token is not valid here")
