package registry_test

import (
	"testing"

	"github.com/foldql/foldql/projection/projectiontest"

	"example.com/registry/model"
	"example.com/registry/projection/ops"
	"example.com/registry/projection/registry"
)

func TestPackageTellsItsLatestVersion(t *testing.T) {
	for _, tt := range []struct {
		name  string
		given []projectiontest.Event
		want  model.Package
	}{
		{
			"from its creation on",
			[]projectiontest.Event{created("a"), published("a", "1.9.0", "2024-01-01", "ISC"), published("a", "1.10.0",
				"2024-02-01", "MIT")},
			model.Package{CreatedAt: at("2023-12-31"), LatestVersion: new("1.10.0"), LatestAt: at("2024-02-01"),
				License: new("MIT"), Releases: 2},
		},
		{
			"before its first version",
			[]projectiontest.Event{created("a")},
			model.Package{CreatedAt: at("2023-12-31")},
		},
		{
			"though its creation arrives late",
			[]projectiontest.Event{published("a", "1.0.0", "2024-01-01", "MIT"), created("a")},
			model.Package{CreatedAt: at("2023-12-31"), LatestVersion: new("1.0.0"), LatestAt: at("2024-01-01"),
				License: new("MIT"), Releases: 1},
		},
		{
			"though a lower one came later",
			[]projectiontest.Event{published("a", "1.10.0", "2024-01-01", "MIT"), published("a", "1.9.9", "2024-02-01", "ISC")},
			model.Package{LatestVersion: new("1.10.0"), LatestAt: at("2024-01-01"), License: new("MIT"), Releases: 2},
		},
		{
			"which a pre-release is not",
			[]projectiontest.Event{
				published("a", "1.0.0", "2024-01-01", "MIT"), published("a", "2.0.0-rc.1", "2024-02-01", "ISC"),
				published("a", "2.0.0rc2", "2024-02-01", "ISC"),
			},
			model.Package{LatestVersion: new("1.0.0"), LatestAt: at("2024-01-01"), License: new("MIT"), Releases: 3},
		},
		{
			"which a pre-release is where there is nothing else",
			[]projectiontest.Event{published("a", "2.0.0-rc.2", "2024-01-01", "MIT"), published("a", "2.0.0-rc.1",
				"2024-02-01", "MIT")},
			model.Package{LatestVersion: new("2.0.0-rc.2"), LatestAt: at("2024-01-01"), License: new("MIT"), Releases: 2},
		},
		{
			"and that it is deprecated",
			[]projectiontest.Event{published("a", "1.0.0", "2024-01-01", "MIT"), deprecated("a", "1.0.0", "broken"),
				deprecated("a", "0.10.0", "old"), deprecated("a", "0.9.0", "old")},
			model.Package{
				LatestVersion: new("1.0.0"), LatestAt: at("2024-01-01"), License: new("MIT"), Releases: 1,
				Deprecated: true, DeprecatedVersions: []string{"0.9.0", "0.10.0", "1.0.0"},
			},
		},
		{
			"and that it is deprecated, which arrives before it was published",
			[]projectiontest.Event{deprecated("a", "1.0.0", "broken"), published("a", "1.0.0", "2024-01-01", "MIT")},
			model.Package{
				LatestVersion: new("1.0.0"), LatestAt: at("2024-01-01"), License: new("MIT"), Releases: 1,
				Deprecated: true, DeprecatedVersions: []string{"1.0.0"},
			},
		},
		{
			"which is good again when a deprecated one is replaced",
			[]projectiontest.Event{published("a", "1.0.0", "2024-01-01", "MIT"), deprecated("a", "1.0.0", "broken"),
				published("a", "1.0.1", "2024-01-02", "MIT")},
			model.Package{
				LatestVersion: new("1.0.1"), LatestAt: at("2024-01-02"), License: new("MIT"), Releases: 2,
				DeprecatedVersions: []string{"1.0.0"},
			},
		},
		{
			"whose deprecation arrives again",
			[]projectiontest.Event{deprecated("a", "1.0.0", "broken"), deprecated("a", "1.0.0", "still broken")},
			model.Package{DeprecatedVersions: []string{"1.0.0"}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.Name = "a"
			if tt.want.LatestVersion != nil {
				tt.want.LatestOrder = new(registry.Order(*tt.want.LatestVersion))
			}
			projectiontest.Run(t, projectiontest.Spec[model.Package]{
				Projection: ops.ProjectPackage(registry.Package{}), Codec: model.PackageCodec,
				Given: tt.given, Want: []model.Package{tt.want},
			})
		})
	}
}

func TestPackagesAreKeptApart(t *testing.T) {
	projectiontest.Run(t, projectiontest.Spec[model.Package]{
		Projection: ops.ProjectPackage(registry.Package{}), Codec: model.PackageCodec,
		Given: []projectiontest.Event{created("a"), created("@scope/a"), created("A")},
		Want: []model.Package{
			{Name: "a", CreatedAt: at("2023-12-31")}, {Name: "@scope/a", CreatedAt: at("2023-12-31")}, {Name: "A",
				CreatedAt: at("2023-12-31")},
		},
	})
}
