package peers

import (
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/foldql/foldql/eventlog"
)

// The cricket that matches are asked of: each team has more players than a match needs.
const (
	MatchCount  = 2000
	SquadSize   = 11 // players of a team in a match
	teamCount   = 12
	teamPlayers = 18
	venueCount  = 30
)

// aMatch draws a match to ask for.
func aMatch(rnd *rand.Rand) any { return variables{ID: matchID(rnd.IntN(MatchCount))} }

func matchID(n int) string        { return fmt.Sprintf("match-%d", n) }
func teamID(n int) string         { return fmt.Sprintf("team-%d", n) }
func coachID(team int) string     { return fmt.Sprintf("coach-%d", team) }
func venueID(n int) string        { return fmt.Sprintf("venue-%d", n) }
func playerID(team, n int) string { return fmt.Sprintf("player-%d-%d", team, n) }

// MatchEvents yields what happened until every match has both of its squads, the same every time.
func MatchEvents() iter.Seq[eventlog.Event] {
	return func(yield func(eventlog.Event) bool) {
		s := &season{rnd: rand.New(rand.NewPCG(3, 4)), yield: yield,
			now: time.Date(2024, time.November, 1, 8, 0, 0, 0, time.UTC)}
		_ = s.teams() && s.venues() && s.matches()
	}
}

// season is the state of the generator; its methods return false when the consumer has had enough.
type season struct {
	rnd   *rand.Rand
	yield func(eventlog.Event) bool
	now   time.Time
}

func (s *season) emit(kind, subject string, data map[string]any) bool {
	body, err := json.Marshal(data)
	if err != nil {
		panic(err) // maps of strings and numbers always have a JSON form
	}
	s.now = s.now.Add(time.Minute)
	return s.yield(eventlog.Event{
		ID: fmt.Sprintf("%s/%d", subject, s.now.Unix()), Source: "/cricket", Type: kind, Subject: subject, Time: s.now,
		Data: body,
	})
}

func (s *season) teams() bool {
	for t := range teamCount {
		if !s.emit("TeamRegistered", teamID(t), map[string]any{
			"teamId": teamID(t), "name": fmt.Sprintf("The Team of Country %d", t), "country": fmt.Sprintf("Country %d", t),
			"ranking": t + 1,
		}) || !s.emit("CoachRegistered", coachID(t), map[string]any{
			"coachId": coachID(t), "name": fmt.Sprintf("Coach %d", t), "teamId": teamID(t),
		}) || !s.players(t) {
			return false
		}
	}
	return true
}

func (s *season) players(team int) bool {
	for n := range teamPlayers {
		id := playerID(team, n)
		if !s.emit("PlayerRegistered", id, map[string]any{
			"playerId": id, "firstName": fmt.Sprintf("First%d", n), "lastName": fmt.Sprintf("Last%d-%d", team, n),
			"role": []string{"BATTER", "BOWLER", "ALL_ROUNDER"}[n%3],
		}) {
			return false
		}
	}
	return true
}

func (s *season) venues() bool {
	for n := range venueCount {
		if !s.emit("VenueRegistered", venueID(n), map[string]any{
			"venueId": venueID(n), "name": fmt.Sprintf("Cricket Ground %d", n), "city": fmt.Sprintf("City %d", n),
		}) {
			return false
		}
	}
	return true
}

func (s *season) matches() bool {
	for n := range MatchCount {
		teams, id := s.rnd.Perm(teamCount)[:2], matchID(n)
		if !s.emit("MatchScheduled", id, map[string]any{
			"matchId": id, "name": fmt.Sprintf("Match no. %d of the season", n), "season": "2024-25",
			"startsOn": s.now.Format(time.DateOnly), "venueId": venueID(s.rnd.IntN(venueCount)),
			"team1": side(teams[0], true), "team2": side(teams[1], false),
		}) || !s.squad(id, teams[0]) || !s.squad(id, teams[1]) {
			return false
		}
	}
	return true
}

func side(team int, atHome bool) map[string]any {
	return map[string]any{"teamId": teamID(team), "coachId": coachID(team), "homeTeam": atHome}
}

func (s *season) squad(match string, team int) bool {
	ids := make([]string, SquadSize)
	for i, n := range s.rnd.Perm(teamPlayers)[:SquadSize] {
		ids[i] = playerID(team, n)
	}
	return s.emit("SquadNamed", match, map[string]any{
		"matchId": match, "teamId": teamID(team), "playerIds": ids, "captainId": ids[s.rnd.IntN(SquadSize)],
	})
}
