package projectors

import (
	"github.com/foldql/foldql/internal/tests/vectors/project/event"
	"github.com/foldql/foldql/internal/tests/vectors/project/model"
	"github.com/foldql/foldql/internal/tests/vectors/project/projection/ops"
	"github.com/foldql/foldql/projection"
)

// Selection keeps who is selected.
type Selection struct{}

// SelectionPut writes a selection.
func (Selection) SelectionPut(e event.SelectionPut, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Selection.Set(model.Selection{SquadID: e.SquadID, SelectionNumber: e.SelectionNumber,
		TeamID: e.TeamID, PlayerID: e.PlayerID, SquadRole: e.SquadRole})}
}

// Ingest appends to readings.
type Ingest struct{}

// Read appends a reading.
func (Ingest) Read(e event.Read, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Reading.Append(model.ReadingKey{Channel: e.Channel, DeviceID: e.DeviceID},
		model.ReadingAppend{Ts: e.Ts, Level: &e.Level})}
}

// Enrichment adds to readings what their devices do not know.
type Enrichment struct{}

// AccountFound says whose device it is.
func (Enrichment) AccountFound(e event.AccountFound, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Reading.Patch(model.ReadingKey{Channel: e.Channel, DeviceID: e.DeviceID}).
		Set(ops.ReadingFields.Enrichment.AccountID.Assign(e.AccountID))}
}
