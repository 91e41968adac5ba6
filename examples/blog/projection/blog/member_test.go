package blog_test

import (
	"testing"

	"github.com/foldql/foldql/projection/projectiontest"

	"example.com/blog/model"
	"example.com/blog/projection/blog"
	"example.com/blog/projection/ops"
)

func TestMembersComeAndGo(t *testing.T) {
	projectiontest.Run(t, projectiontest.Spec[model.Member]{
		Projection: ops.ProjectMember(blog.Member{}), Codec: model.MemberCodec,
		Given: []projectiontest.Event{
			member("MemberJoined", "acme", "t1", "u7", "writer"),
			member("MemberJoined", "acme", "t2", "u7", "writer"),
			member("MemberJoined", "acme", "t1", "u8", "writer"),
			member("MemberJoined", "other", "t1", "u8", "writer"),
			member("MemberJoined", "acme", "t1", "u7", "editor"),
			member("MemberLeft", "acme", "t1", "u8", ""),
			member("MemberLeft", "acme", "t9", "u8", ""),
		},
		Want: []model.Member{
			{OrgID: "acme", TeamID: "t1", UserID: "u7", Role: "editor"},
			{OrgID: "acme", TeamID: "t2", UserID: "u7", Role: "writer"},
			{OrgID: "other", TeamID: "t1", UserID: "u8", Role: "writer"},
		},
	})
}
