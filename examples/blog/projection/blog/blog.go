// Package blog folds what happens in a blog.
package blog

import (
	"github.com/foldql/foldql/projection"

	"example.com/blog/projection/ops"
)

// Projections returns every projection of the blog, ready to run.
func Projections() []projection.Projection {
	return []projection.Projection{
		ops.ProjectUser(User{}, Upcasters{}),
		ops.ProjectPost(Post{}),
		ops.ProjectMember(Member{}),
	}
}
