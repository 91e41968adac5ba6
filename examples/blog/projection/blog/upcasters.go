package blog

import (
	"errors"
	"strings"

	"example.com/blog/event"
)

// Upcasters make data of each version of an event of those of the version before.
type Upcasters struct{}

// UserRegisteredV1 takes the last word of the name for the family name. Of one word it makes no family name.
func (Upcasters) UserRegisteredV1(former event.UserRegisteredV1) (event.UserRegisteredV2, error) {
	words := strings.Fields(former.Name)
	if len(words) == 0 {
		return event.UserRegisteredV2{}, errors.New("the name is blank")
	}
	next := event.UserRegisteredV2{UserID: former.UserID, Email: former.Email, Username: former.Username}
	if last := len(words) - 1; last > 0 {
		next.FamilyName, words = &words[last], words[:last]
	}
	next.GivenName = strings.Join(words, " ")
	return next, nil
}

// UserRegisteredV2 puts both parts of the name into an object.
func (Upcasters) UserRegisteredV2(former event.UserRegisteredV2) (event.UserRegisteredV3, error) {
	return event.UserRegisteredV3{
		UserID: former.UserID, Email: former.Email, Username: former.Username,
		Name: event.UserRegisteredV3PersonName{Given: former.GivenName, Family: former.FamilyName},
	}, nil
}
