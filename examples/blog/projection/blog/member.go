package blog

import (
	"github.com/foldql/foldql/projection"

	"example.com/blog/event"
	"example.com/blog/model"
	"example.com/blog/projection/ops"
)

// Member keeps who is in which team.
type Member struct{}

// MemberJoined adds a member, or gives one another role.
func (Member) MemberJoined(e event.MemberJoined, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Member.Set(model.Member{OrgID: e.OrgID, TeamID: e.TeamID, UserID: e.UserID, Role: e.Role})}
}

// MemberLeft removes a member.
func (Member) MemberLeft(e event.MemberLeft, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Member.Delete(model.MemberKey{OrgID: e.OrgID, TeamID: e.TeamID, UserID: e.UserID})}
}
