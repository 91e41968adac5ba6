package devices_test

import (
	"testing"

	"github.com/foldql/foldql/projection/projectiontest"

	"example.com/devices/model"
	"example.com/devices/projection/devices"
	"example.com/devices/projection/ops"
)

func TestAssetsLoseTheirSites(t *testing.T) {
	us, de, sf, berlin, center := "us", "de", "sf", "berlin", "datacenter-1"
	projectiontest.Run(t, projectiontest.Spec[model.Asset]{
		Projection: ops.ProjectAsset(devices.Asset{}), Codec: model.AssetCodec,
		Given: []projectiontest.Event{
			placed("rack-42", "americas", "us", "sf", "datacenter-1"),
			leftSite("rack-42", "us", "sf"),
			placed("rack-43", "americas", "us", "sf", "datacenter-1"),
			of("AssetSiteDoubted", "rack-43", data{"assetId": "rack-43"}),
			placed("rack-44", "emea", "us", "sf", "datacenter-1"),
			leftSite("rack-44", "de", "berlin"),
			placed("rack-45", "americas", "us", "sf", "datacenter-1"),
			of("AssetSiteLost", "rack-45", data{"assetId": "rack-45"}),
			placed("rack-45", "americas", "us", "sf", "datacenter-1"),
		},
		Want: []model.Asset{
			{AssetID: "rack-42", Region: "americas", Country: &us, City: &sf},
			{AssetID: "rack-43", Region: "americas", Country: &us, City: &sf},
			{AssetID: "rack-44", Region: "emea", Country: &de, City: &berlin},
			{AssetID: "rack-45", Region: "americas", Country: &us, City: &sf, Site: &center},
		},
	})
}
