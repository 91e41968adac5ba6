package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/projection"
)

// TestAUserUnderATakenAddressWaits, with what follows of them, until the address is free and the event is retried.
func TestAUserUnderATakenAddressWaits(t *testing.T) {
	s := open(t)
	events := []eventlog.Event{
		userEvent(t, "UserRegistered", "123", map[string]any{"email": "alice@example.com", "username": "alice",
			"name": "Alice"}),
		userEvent(t, "UserRegistered", "126", map[string]any{"email": "alice@example.com", "username": "mallory",
			"name": "Mallory"}),
		userEvent(t, "UsernameChanged", "126", map[string]any{"username": "mal"}),
	}
	users := s.append(t, events...)
	letters := deadLettersOf(t, users)
	if len(letters) != 2 || !strings.Contains(letters[0].Reason, "user#email") || !strings.Contains(letters[0].Reason,
		"alice@example.com") {
		t.Fatalf("dead letters are %+v, want both of Mallory's events, the first for the address that is taken", letters)
	}
	eachWay(t, s, func(t *testing.T, api http.Handler) {
		answers(t, api, map[string]string{
			`UserByEmail(email: "alice@example.com") { name }`: `{"name":"Alice"}`,
			`UserByUsername(username: "mallory") { name }`:     `null`,
			`User(id: "126") { name }`:                         `null`,
			`UserAll { items { name } }`:                       `{"items":[{"name":"Alice"}]}`,
		})
	})
	if err := users.Retry(t.Context(), letters[0].Ref); err == nil || !strings.Contains(err.Error(), "user#email") {
		t.Errorf("the retry while the address is taken gives %v", err)
	}

	events = append(events, userEvent(t, "EmailChanged", "123", map[string]any{"email": "a@example.com"}))
	users = s.append(t, events...)
	if err := users.Retry(t.Context(), letters[0].Ref); err != nil {
		t.Fatal(err)
	}
	if letters := deadLettersOf(t, users); len(letters) > 0 {
		t.Errorf("%+v are still dead letters", letters)
	}
	eachWay(t, s, func(t *testing.T, api http.Handler) {
		answers(t, api, map[string]string{
			`UserByEmail(email: "alice@example.com") { name }`: `{"name":"Mallory"}`,
			`UserByEmail(email: "a@example.com") { name }`:     `{"name":"Alice"}`,
			`UserByUsername(username: "mal") { name }`:         `{"name":"Mallory"}`,
			`UserByUsername(username: "mallory") { name }`:     `null`,
			`UserAll { items { id } }`:                         `{"items":[{"id":"123"},{"id":"126"}]}`,
		})
	})
}

// append folds a log of the events, of which those that were folded before are the first, and returns the runner of
// User.
func (s *site) append(t *testing.T, events ...eventlog.Event) *projection.Runner {
	t.Helper()
	log := memlog.New(memlog.Options{})
	for i := range events {
		events[i].ID, events[i].Time = fmt.Sprint(i+1), time.Unix(int64(i), 0)
	}
	if _, err := log.Append(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	log.End()
	return s.fold(t, log)["User"]
}

func userEvent(t *testing.T, kind, id string, data map[string]any) eventlog.Event {
	t.Helper()
	data["userId"] = id
	text, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return eventlog.Event{Source: "/blog", Type: kind, Subject: "user/" + id, Data: text}
}

func deadLettersOf(t *testing.T, r *projection.Runner) []projection.DeadLetter {
	t.Helper()
	letters, err := r.DeadLetters(t.Context(), "", 10)
	if err != nil {
		t.Fatal(err)
	}
	return letters
}

// answers fails for each query that gives something else than wanted.
func answers(t *testing.T, api http.Handler, wanted map[string]string) {
	t.Helper()
	for query, want := range wanted {
		if got := ask(t, api, query); got != want {
			t.Errorf("%s gives %s, want %s", query, got, want)
		}
	}
}
