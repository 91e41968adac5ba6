package blog

import (
	"github.com/foldql/foldql/projection"

	"example.com/blog/event"
	"example.com/blog/model"
	"example.com/blog/projection/ops"
)

// User keeps the profile of each user. That no two have one email address or username is the schema's to say: an event
// that would make it so becomes a dead letter.
type User struct{}

// UserRegistered adds a user.
func (User) UserRegistered(e event.UserRegistered, _ projection.Meta) []projection.Op {
	name := e.Name.Given
	if e.Name.Family != nil {
		name += " " + *e.Name.Family
	}
	return []projection.Op{ops.User.Set(model.User{ID: e.UserID, Email: e.Email, Username: &e.Username, Name: name})}
}

// EmailChanged frees the address that the user had.
func (User) EmailChanged(e event.EmailChanged, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.User.Update(e.UserID, func(u *model.User) { u.Email = e.Email })}
}

// UsernameChanged frees the name that the user had, and takes another if there is one.
func (User) UsernameChanged(e event.UsernameChanged, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.User.Update(e.UserID, func(u *model.User) { u.Username = e.Username })}
}

// UserLeft frees both.
func (User) UserLeft(e event.UserLeft, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.User.Delete(e.UserID)}
}
