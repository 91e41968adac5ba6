// Package plainjson reads the JSON that most requests have for their variables: an object of texts, whole numbers,
// booleans and nulls, without escapes or white space. It does so in one pass, and says of anything else that another
// reader has to look at it.
package plainjson

import (
	"encoding/json"
	"unicode/utf8"
)

// Object cuts an object of up to most members off the front of a text, whose memory it shares, and returns what follows
// it. It is ok only where the object is JSON in UTF-8, of the plain form.
func Object(text []byte, most int) (object, rest []byte, ok bool) {
	if rest, ok = members(text, most, nil); !ok {
		return nil, nil, false
	}
	return text[:len(text)-len(rest)], rest, true
}

// Members reads an object that Object has cut off. Numbers are json.Number, and of members of one name the last counts.
// Nothing shares the memory of the object.
func Members(object []byte) map[string]any {
	all := map[string]any{}
	members(object, len(object), func(name, value []byte) { all[string(name)] = valueOf(value) })
	return all
}

// members visits each member of an object at the front of a text, and returns what follows it.
func members(text []byte, most int, visit func(name, value []byte)) (rest []byte, ok bool) {
	if rest, ok = cut(text, '{'); !ok {
		return nil, false
	}
	if rest, ok := cut(rest, '}'); ok {
		return rest, true
	}
	for range most {
		var name []byte
		if name, rest, ok = String(rest); !ok {
			return nil, false
		}
		if rest, ok = cut(rest, ':'); !ok {
			return nil, false
		}
		value := rest
		if rest, ok = skip(rest); !ok {
			return nil, false
		}
		if visit != nil {
			visit(name, value[:len(value)-len(rest)])
		}
		if rest, ok := cut(rest, '}'); ok {
			return rest, true
		}
		if rest, ok = cut(rest, ','); !ok {
			return nil, false
		}
	}
	return nil, false
}

// String reads a text in quotes from the front of another, whose memory it shares.
func String(text []byte) (s, rest []byte, ok bool) {
	if text, ok = cut(text, '"'); !ok {
		return nil, nil, false
	}
	ascii := true
	for i, c := range text {
		switch {
		case c == '"':
			return text[:i], text[i+1:], ascii || utf8.Valid(text[:i])
		case c == '\\' || c < ' ':
			return nil, nil, false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return nil, nil, false
}

// skip passes over a plain value.
func skip(text []byte) (rest []byte, ok bool) {
	if len(text) == 0 {
		return nil, false
	}
	switch text[0] {
	case '"':
		_, rest, ok = String(text)
		return rest, ok
	case 't':
		return cutWord(text, "true")
	case 'f':
		return cutWord(text, "false")
	case 'n':
		return cutWord(text, "null")
	}
	return skipNumber(text)
}

// valueOf makes the value of its text.
func valueOf(text []byte) any {
	switch text[0] {
	case '"':
		return string(text[1 : len(text)-1])
	case 't':
		return true
	case 'f':
		return false
	case 'n':
		return nil
	}
	return json.Number(text)
}

// skipNumber passes over a whole number. What may not follow one is found by who reads on.
func skipNumber(text []byte) (rest []byte, ok bool) {
	digits, _ := cut(text, '-')
	n := 0
	for n < len(digits) && digits[n] >= '0' && digits[n] <= '9' {
		n++
	}
	if n == 0 || n > 1 && digits[0] == '0' {
		return nil, false
	}
	return digits[n:], true
}

func cutWord(text []byte, word string) (rest []byte, ok bool) {
	if len(text) < len(word) || string(text[:len(word)]) != word {
		return nil, false
	}
	return text[len(word):], true
}

// cut takes one byte off the front, and returns the text where there is another.
func cut(text []byte, c byte) (rest []byte, ok bool) {
	if len(text) == 0 || text[0] != c {
		return text, false
	}
	return text[1:], true
}
