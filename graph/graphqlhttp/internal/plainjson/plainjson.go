// Package plainjson reads the JSON that most requests have for their variables: an object of texts, whole numbers,
// booleans and nulls, without escapes or white space. It does so in one pass, and says of anything else that another
// reader has to look at it.
package plainjson

import (
	"encoding/json"
	"unicode/utf8"
)

// Object reads an object of up to most members from the front of a text, and returns what follows it. Numbers are
// json.Number, and of members of one name the last counts. It is ok only where what was read is JSON in UTF-8, of that
// plain form. Nothing shares the memory of the text.
func Object(text []byte, most int) (members map[string]any, rest []byte, ok bool) {
	if rest, ok = cut(text, '{'); !ok {
		return nil, nil, false
	}
	members = map[string]any{}
	if rest, ok := cut(rest, '}'); ok {
		return members, rest, true
	}
	for range most {
		var name []byte
		var value any
		if name, rest, ok = String(rest); !ok {
			return nil, nil, false
		}
		if rest, ok = cut(rest, ':'); !ok {
			return nil, nil, false
		}
		if value, rest, ok = plain(rest); !ok {
			return nil, nil, false
		}
		members[string(name)] = value
		if rest, ok := cut(rest, '}'); ok {
			return members, rest, true
		}
		if rest, ok = cut(rest, ','); !ok {
			return nil, nil, false
		}
	}
	return nil, nil, false
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

func plain(text []byte) (value any, rest []byte, ok bool) {
	if len(text) == 0 {
		return nil, nil, false
	}
	switch text[0] {
	case '"':
		s, rest, ok := String(text)
		return string(s), rest, ok
	case 't':
		rest, ok = cutWord(text, "true")
		return true, rest, ok
	case 'f':
		rest, ok = cutWord(text, "false")
		return false, rest, ok
	case 'n':
		rest, ok = cutWord(text, "null")
		return nil, rest, ok
	}
	return number(text)
}

// number reads a whole number. What may not follow one is found by who reads on.
func number(text []byte) (value any, rest []byte, ok bool) {
	digits, _ := cut(text, '-')
	n := 0
	for n < len(digits) && digits[n] >= '0' && digits[n] <= '9' {
		n++
	}
	if n == 0 || n > 1 && digits[0] == '0' {
		return nil, nil, false
	}
	end := len(text) - len(digits) + n
	return json.Number(text[:end]), text[end:], true
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
