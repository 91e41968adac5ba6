package blog

import (
	"time"

	"github.com/foldql/foldql/projection"

	"example.com/blog/event"
	"example.com/blog/model"
	"example.com/blog/projection/ops"
)

// Post keeps what users write.
type Post struct{}

// PostWritten adds a draft.
func (Post) PostWritten(e event.PostWritten, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Post.Set(model.Post{
		ID: e.PostID, AuthorID: e.AuthorID, CreatedAt: e.CreatedAt,
		Title: e.Title, Content: e.Content, Status: model.PostStatusDraft,
	})}
}

// PostEdited replaces what the post says.
func (Post) PostEdited(e event.PostEdited, _ projection.Meta) []projection.Op {
	return []projection.Op{change(e.AuthorID, e.CreatedAt, e.PostID, func(p *model.Post) {
		p.Title, p.Content, p.UpdatedAt = e.Title, e.Content, &e.EditedAt
	})}
}

// PostPublished moves the post to those that are published.
func (Post) PostPublished(e event.PostPublished, _ projection.Meta) []projection.Op {
	return []projection.Op{change(e.AuthorID, e.CreatedAt, e.PostID, become(model.PostStatusPublished))}
}

// PostArchived moves the post to those that are archived.
func (Post) PostArchived(e event.PostArchived, _ projection.Meta) []projection.Op {
	return []projection.Op{change(e.AuthorID, e.CreatedAt, e.PostID, become(model.PostStatusArchived))}
}

// PostDeleted removes the post.
func (Post) PostDeleted(e event.PostDeleted, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Post.Delete(model.PostKey{AuthorID: e.AuthorID, CreatedAt: e.CreatedAt, ID: e.PostID})}
}

// UserLeft removes all posts of the user. The profile, in the same partition, is another projector's.
func (Post) UserLeft(e event.UserLeft, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Post.DeletePartition(e.UserID)}
}

// change alters a post that is there.
func change(author string, at time.Time, id string, alter func(*model.Post)) projection.Op {
	return ops.Post.Update(model.PostKey{AuthorID: author, CreatedAt: at, ID: id}, alter)
}

func become(status model.PostStatus) func(*model.Post) {
	return func(p *model.Post) { p.Status = status }
}
