package blog_test

import (
	"testing"

	"github.com/foldql/foldql/projection/projectiontest"

	"example.com/blog/model"
	"example.com/blog/projection/blog"
	"example.com/blog/projection/ops"
)

// day is when the posts of the specs were written.
const day = "2024-01-15T10:30:00Z"

func TestPostGoesFromDraftToArchive(t *testing.T) {
	draft := model.Post{
		ID: "abc", AuthorID: "123", CreatedAt: at(day), Title: "On abc", Content: "Words", Status: model.PostStatusDraft,
	}
	published, archived, better := draft, draft, draft
	published.Status, archived.Status = model.PostStatusPublished, model.PostStatusArchived
	better.Title, better.Content, better.UpdatedAt = "Better", "Other words", new(at("2024-02-01T08:00:00Z"))

	write := written("123", day, "abc")
	for name, tt := range map[string]struct {
		given []projectiontest.Event
		want  []model.Post
	}{
		"written":   {[]projectiontest.Event{write}, []model.Post{draft}},
		"edited":    {[]projectiontest.Event{write, edited("123", day, "abc", "Better")}, []model.Post{better}},
		"published": {[]projectiontest.Event{write, onPost("PostPublished", "123", day, "abc")}, []model.Post{published}},
		"archived": {
			[]projectiontest.Event{write, onPost("PostPublished", "123", day, "abc"), onPost("PostArchived", "123", day, "abc")},
			[]model.Post{archived},
		},
		"deleted": {[]projectiontest.Event{write, onPost("PostDeleted", "123", day, "abc")}, nil},
		"reported with another offset": {
			[]projectiontest.Event{write, onPost("PostPublished", "123", "2024-01-15T12:30:00+02:00", "abc")},
			[]model.Post{published},
		},
	} {
		t.Run(name, func(t *testing.T) { postSpec(t, tt.given, tt.want) })
	}
}

// TestPostThatIsNotThereIsNotChanged: the event waits until somebody looks at it.
func TestPostThatIsNotThereIsNotChanged(t *testing.T) {
	for _, e := range []projectiontest.Event{
		edited("123", day, "abc", "Better"), onPost("PostPublished", "123", day, "abc"), onPost("PostArchived", "123",
			day, "abc"),
	} {
		postSpec(t, []projectiontest.Event{e}, nil, projectiontest.DeadLetter{ID: "1", Reason: "user#123"})
	}
}

// TestPostsGoWithTheirAuthor, and others stay.
func TestPostsGoWithTheirAuthor(t *testing.T) {
	postSpec(t,
		[]projectiontest.Event{
			written("123", day, "a"), written("123", "2024-01-16T10:30:00Z", "b"), written("1234", day, "c"), left("123"),
		},
		[]model.Post{{ID: "c", AuthorID: "1234", CreatedAt: at(day), Title: "On c", Content: "Words",
			Status: model.PostStatusDraft}})
}

func postSpec(t *testing.T, given []projectiontest.Event, want []model.Post, letters ...projectiontest.DeadLetter) {
	t.Helper()
	projectiontest.Run(t, projectiontest.Spec[model.Post]{
		Projection: ops.ProjectPost(blog.Post{}), Codec: model.PostCodec,
		Given: given, Want: want, WantDeadLetters: letters,
	})
}
