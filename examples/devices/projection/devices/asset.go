package devices

import (
	"github.com/foldql/foldql/projection"

	"example.com/devices/event"
	"example.com/devices/model"
	"example.com/devices/projection/ops"
)

// Asset keeps where each asset is. What becomes of the sort half of byLocation depends on what a patch says of its
// fields.
type Asset struct{}

// AssetPlaced writes the whole place.
func (Asset) AssetPlaced(e event.AssetPlaced, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Asset.Set(model.Asset{
		AssetID: e.AssetID, Region: e.Region, Country: &e.Country, City: &e.City, Site: &e.Site,
	})}
}

// AssetLeftSite says what remains and removes the site: the key is cut short to the city.
func (Asset) AssetLeftSite(e event.AssetLeftSite, _ projection.Meta) []projection.Op {
	fields := &ops.AssetFields
	return []projection.Op{ops.Asset.Patch(e.AssetID).
		Set(fields.Country.Assign(e.Country), fields.City.Assign(e.City)).
		Remove(fields.Site)}
}

// AssetSiteDoubted clears the site and says nothing of what remains: the key cannot be composed, and stays as it is.
func (Asset) AssetSiteDoubted(e event.AssetSiteDoubted, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Asset.Patch(e.AssetID).Clear(ops.AssetFields.Site)}
}

// AssetSiteLost removes the site and says nothing of what remains: the key goes, and the asset is under no place.
func (Asset) AssetSiteLost(e event.AssetSiteLost, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Asset.Patch(e.AssetID).Remove(ops.AssetFields.Site)}
}
