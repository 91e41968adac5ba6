package blog_test

import (
	"testing"

	"github.com/foldql/foldql/projection/projectiontest"

	"example.com/blog/model"
	"example.com/blog/projection/blog"
	"example.com/blog/projection/ops"
)

func TestUserIsWhatWasSaidOfThemLast(t *testing.T) {
	for name, tt := range map[string]struct {
		given []projectiontest.Event
		want  []model.User
	}{
		"registered": {
			[]projectiontest.Event{registered("123", "alice@example.com", "alice")},
			[]model.User{user("123", "alice@example.com", "alice")},
		},
		"with another address and another name": {
			[]projectiontest.Event{
				registered("123", "alice@example.com", "alice"), emailChanged("123", "a@example.com"), usernameChanged("123", "al"),
			},
			[]model.User{user("123", "a@example.com", "al")},
		},
		"without a name": {
			[]projectiontest.Event{registered("123", "alice@example.com", "alice"), usernameGivenUp("123")},
			[]model.User{user("123", "alice@example.com", "")},
		},
		"gone": {
			[]projectiontest.Event{registered("123", "alice@example.com", "alice"), left("123")},
			nil,
		},
		"two of them": {
			[]projectiontest.Event{registered("123", "alice@example.com", "alice"), registered("124", "bob@example.com", "bob")},
			[]model.User{user("123", "alice@example.com", "alice"), user("124", "bob@example.com", "bob")},
		},
	} {
		t.Run(name, func(t *testing.T) { userSpec(t, tt.given, tt.want) })
	}
}

func user(id, email, username string) model.User {
	u := model.User{ID: id, Email: email, Name: "The " + id}
	if username != "" {
		u.Username = &username
	}
	return u
}

func userSpec(t *testing.T, given []projectiontest.Event, want []model.User, letters ...projectiontest.DeadLetter) {
	t.Helper()
	projectiontest.Run(t, projectiontest.Spec[model.User]{
		Projection: ops.ProjectUser(blog.User{}, blog.Upcasters{}), Codec: model.UserCodec,
		Given: given, Want: want, WantDeadLetters: letters,
	})
}
