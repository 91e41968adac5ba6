package blog_test

import (
	"time"

	"github.com/foldql/foldql/projection/projectiontest"
)

// The events of the specs, and the times in them.

type data = map[string]any

func registered(id, email, username string) projectiontest.Event {
	return of("UserRegistered", id, data{"userId": id, "email": email, "username": username, "name": "The " + id})
}

func emailChanged(id, email string) projectiontest.Event {
	return of("EmailChanged", id, data{"userId": id, "email": email})
}

func usernameChanged(id, username string) projectiontest.Event {
	return of("UsernameChanged", id, data{"userId": id, "username": username})
}

func usernameGivenUp(id string) projectiontest.Event {
	return of("UsernameChanged", id, data{"userId": id})
}

func left(id string) projectiontest.Event { return of("UserLeft", id, data{"userId": id}) }

// onPost is an event of a post that says no more than which.
func onPost(kind, author, created, id string) projectiontest.Event {
	return of(kind, id, data{"postId": id, "authorId": author, "createdAt": created})
}

func written(author, created, id string) projectiontest.Event {
	e := onPost("PostWritten", author, created, id)
	e.Data.(data)["title"], e.Data.(data)["content"] = "On "+id, "Words"
	return e
}

func edited(author, created, id, title string) projectiontest.Event {
	e := onPost("PostEdited", author, created, id)
	e.Data.(data)["title"], e.Data.(data)["content"], e.Data.(data)["editedAt"] = title, "Other words",
		"2024-02-01T08:00:00Z"
	return e
}

func member(kind, org, team, user, role string) projectiontest.Event {
	d := data{"orgId": org, "teamId": team, "userId": user}
	if role != "" {
		d["role"] = role
	}
	return of(kind, org, d)
}

func of(kind, subject string, d data) projectiontest.Event {
	return projectiontest.Event{Type: kind, Subject: subject, Data: d}
}

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t.UTC()
}
