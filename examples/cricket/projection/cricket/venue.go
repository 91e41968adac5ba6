package cricket

import (
	"github.com/foldql/foldql/projection"

	"example.com/cricket/event"
	"example.com/cricket/model"
	"example.com/cricket/projection/ops"
)

// Venue keeps the venues.
type Venue struct{}

// VenueRegistered adds a venue.
func (Venue) VenueRegistered(e event.VenueRegistered, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Venue.Set(model.Venue{ID: e.VenueID, Name: e.Name, City: e.City})}
}

// VenueRenamed gives a venue another name.
func (Venue) VenueRenamed(e event.VenueRenamed, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Venue.Update(e.VenueID, func(r *model.Venue) { r.Name = e.Name })}
}

// VenueDeleted removes a venue.
func (Venue) VenueDeleted(e event.VenueDeleted, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Venue.Delete(e.VenueID)}
}
