package blog_test

import (
	"os"
	"testing"

	"github.com/foldql/foldql/projection/projectiontest"

	"example.com/blog/event"
	"example.com/blog/model"
	"example.com/blog/projection/blog"
	"example.com/blog/projection/ops"
)

// TestEventsOfFormerVersionsGiveTheRowsOfPresentOnes.
func TestEventsOfFormerVersionsGiveTheRowsOfPresentOnes(t *testing.T) {
	projectiontest.RunEvolution(t, projectiontest.Evolution{
		Projections: blog.Projections(), Types: event.Types, Samples: os.DirFS("testdata/evolution"),
	})
}

// TestANameThatIsBlankMakesADeadLetter: it has no given name.
func TestANameThatIsBlankMakesADeadLetter(t *testing.T) {
	blank := registered("123", "alice@example.com", "alice")
	blank.Data.(data)["name"] = " "
	projectiontest.Run(t, projectiontest.Spec[model.User]{
		Projection: ops.ProjectUser(blog.User{}, blog.Upcasters{}), Codec: model.UserCodec,
		Given: []projectiontest.Event{
			blank,
			{Type: "UserRegistered", Version: 3, Data: `{"userId": "124", "email": "bob@example.com", "username": "bob",
				"name": {"given": "Bob", "family": "Brown"}}`},
		},
		Want: []model.User{{ID: "124", Email: "bob@example.com", Username: new("bob"), Name: "Bob Brown"}},
		WantDeadLetters: []projectiontest.DeadLetter{
			{ID: "1", Reason: "upcast UserRegistered from version 1: the name is blank"},
		},
	})
}
