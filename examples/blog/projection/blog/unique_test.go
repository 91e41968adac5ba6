package blog_test

import (
	"testing"

	"github.com/foldql/foldql/projection/projectiontest"

	"example.com/blog/model"
)

// TestEmailAndUsernameAreUnique: an event that would give one to a second user has no effect, and says why.
func TestEmailAndUsernameAreUnique(t *testing.T) {
	alice := registered("123", "alice@example.com", "alice")
	bob := registered("124", "bob@example.com", "bob")
	for name, tt := range map[string]struct {
		given   []projectiontest.Event
		want    []model.User
		letters []projectiontest.DeadLetter
	}{
		"registered under a taken address": {
			[]projectiontest.Event{alice, registered("124", "alice@example.com", "bob")},
			[]model.User{user("123", "alice@example.com", "alice")},
			[]projectiontest.DeadLetter{{ID: "2", Reason: "user#email"}},
		},
		"registered under a taken name": {
			[]projectiontest.Event{alice, registered("124", "bob@example.com", "alice")},
			[]model.User{user("123", "alice@example.com", "alice")},
			[]projectiontest.DeadLetter{{ID: "2", Reason: "user#username"}},
		},
		"changed to a taken address, and what follows of that user waits": {
			[]projectiontest.Event{alice, bob, emailChanged("124", "alice@example.com"), usernameChanged("124", "bobby"),
				usernameChanged("123", "al")},
			[]model.User{user("123", "alice@example.com", "al"), user("124", "bob@example.com", "bob")},
			[]projectiontest.DeadLetter{{ID: "3", Reason: "alice@example.com"},
				{ID: "4", Reason: "an earlier event of the same subject"}},
		},
		"changed to a taken name": {
			[]projectiontest.Event{alice, bob, usernameChanged("124", "alice")},
			[]model.User{user("123", "alice@example.com", "alice"), user("124", "bob@example.com", "bob")},
			[]projectiontest.DeadLetter{{ID: "3", Reason: "alice"}},
		},
		"taken until the event after": {
			[]projectiontest.Event{alice, registered("124", "alice@example.com", "bob"), left("123")},
			nil,
			[]projectiontest.DeadLetter{{ID: "2", Reason: "user#email"}},
		},
		"the user's own again": {
			[]projectiontest.Event{alice, emailChanged("123", "alice@example.com"), usernameChanged("123", "alice"), alice},
			[]model.User{user("123", "alice@example.com", "alice")},
			nil,
		},
		"an address and a name of the same text": {
			[]projectiontest.Event{registered("123", "a", "b"), registered("124", "b", "a")},
			[]model.User{user("123", "a", "b"), user("124", "b", "a")},
			nil,
		},
		"distinguished by case": {
			[]projectiontest.Event{alice, registered("124", "Alice@example.com", "Alice")},
			[]model.User{user("123", "alice@example.com", "alice"), user("124", "Alice@example.com", "Alice")},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) { userSpec(t, tt.given, tt.want, tt.letters...) })
	}
}

// TestEmailAndUsernameAreFreed: another user can have what a change, a user without name or one that left has freed.
func TestEmailAndUsernameAreFreed(t *testing.T) {
	alice := registered("123", "alice@example.com", "alice")
	for name, tt := range map[string]struct {
		given []projectiontest.Event
		want  []model.User
	}{
		"by a change of the address": {
			[]projectiontest.Event{alice, emailChanged("123", "a@example.com"), registered("124", "alice@example.com", "bob")},
			[]model.User{user("123", "a@example.com", "alice"), user("124", "alice@example.com", "bob")},
		},
		"by a change of the name": {
			[]projectiontest.Event{alice, usernameChanged("123", "al"), registered("124", "bob@example.com", "alice")},
			[]model.User{user("123", "alice@example.com", "al"), user("124", "bob@example.com", "alice")},
		},
		"by a name that was given up, by two": {
			[]projectiontest.Event{
				alice, usernameGivenUp("123"),
				registered("124", "bob@example.com", "alice"), usernameGivenUp("124"), usernameChanged("123", "alice"),
			},
			[]model.User{user("123", "alice@example.com", "alice"), user("124", "bob@example.com", "")},
		},
		"by one who left": {
			[]projectiontest.Event{alice, left("123"), registered("124", "alice@example.com", "alice")},
			[]model.User{user("124", "alice@example.com", "alice")},
		},
		"by one who left and came back under others": {
			[]projectiontest.Event{
				alice, left("123"), registered("124", "alice@example.com", "alice"), registered("123", "a@example.com", "al"),
			},
			[]model.User{user("123", "a@example.com", "al"), user("124", "alice@example.com", "alice")},
		},
		"by two who exchange theirs by way of a third": {
			[]projectiontest.Event{
				alice, registered("124", "bob@example.com", "bob"),
				emailChanged("123", "third@example.com"), emailChanged("124", "alice@example.com"), emailChanged("123",
					"bob@example.com"),
			},
			[]model.User{user("123", "bob@example.com", "alice"), user("124", "alice@example.com", "bob")},
		},
	} {
		t.Run(name, func(t *testing.T) { userSpec(t, tt.given, tt.want) })
	}
}
