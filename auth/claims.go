package auth

import (
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

// caller reads who a verified token is about.
func (v *Verifier) caller(claims jwt.MapClaims) (Caller, error) {
	var c Caller
	if value, ok := claim(claims, v.cfg.SubjectClaim); ok {
		if c.Subject, ok = value.(string); !ok {
			return Caller{}, refuse(nil, "has a claim %q that is no string", v.cfg.SubjectClaim)
		}
	}
	for _, name := range v.cfg.GroupsClaims {
		value, ok := claim(claims, name)
		if !ok {
			continue
		}
		groups, ok := texts(value)
		if !ok {
			return Caller{}, refuse(nil, "has a claim %q that is neither a string nor a list of strings", name)
		}
		c.Groups = append(c.Groups, groups...)
	}
	return c, nil
}

// claim finds a claim by its name, or else by its path. One that is null is not there.
func claim(claims map[string]any, name string) (value any, ok bool) {
	if value = claims[name]; value != nil {
		return value, true
	}
	for {
		first, rest, nested := strings.Cut(name, ".")
		if !nested {
			value = claims[name]
			return value, value != nil
		}
		if claims, ok = claims[first].(map[string]any); !ok {
			return nil, false
		}
		name = rest
	}
}

// texts takes one string, which is never split, or a list of them.
func texts(value any) ([]string, bool) {
	if text, ok := value.(string); ok {
		return []string{text}, true
	}
	list, ok := value.([]any)
	if !ok {
		return nil, false
	}
	all := make([]string, len(list))
	for i, item := range list {
		if all[i], ok = item.(string); !ok {
			return nil, false
		}
	}
	return all, true
}
