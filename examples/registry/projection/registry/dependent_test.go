package registry_test

import (
	"testing"

	"github.com/foldql/foldql/projection/projectiontest"

	"example.com/registry/model"
	"example.com/registry/projection/ops"
	"example.com/registry/projection/registry"
)

func TestDependentFansOutToEachDependency(t *testing.T) {
	dependentSpec(t,
		[]projectiontest.Event{
			published("a", "1.0.0", "2024-01-01", "MIT", "x", "@scope/y", "a"),
			published("b", "1.0.0", "2024-01-01", "MIT"),
			published("c", "0.1.0", "2024-01-02", "MIT", "x"),
		},
		model.Dependent{Dependency: "x", Dependent: "a", Since: *at("2024-01-01"), Version: "1.0.0",
			PublishedAt: *at("2024-01-01")},
		model.Dependent{Dependency: "@scope/y", Dependent: "a", Since: *at("2024-01-01"), Version: "1.0.0",
			PublishedAt: *at("2024-01-01")},
		model.Dependent{Dependency: "a", Dependent: "a", Since: *at("2024-01-01"), Version: "1.0.0",
			PublishedAt: *at("2024-01-01")},
		model.Dependent{Dependency: "x", Dependent: "c", Since: *at("2024-01-02"), Version: "0.1.0",
			PublishedAt: *at("2024-01-02")},
	)
}

func TestDependentSpansFromTheFirstToTheLastVersion(t *testing.T) {
	first := published("a", "1.9.0", "2024-01-01", "MIT", "x")
	between := published("a", "2.0.0", "2024-02-01", "MIT", "x", "x")
	last := published("a", "1.10.0", "2024-03-01", "MIT", "x")
	without := published("a", "3.0.0", "2024-04-01", "MIT")
	sameTime := published("a", "1.9.9", "2024-03-01", "MIT", "x")
	for _, given := range [][]projectiontest.Event{
		{first, between, last, without, sameTime},
		{sameTime, without, last, between, first},
		{between, last, first, sameTime, without},
	} {
		dependentSpec(t, given, model.Dependent{
			Dependency: "x", Dependent: "a", Since: *at("2024-01-01"), Version: "1.10.0", PublishedAt: *at("2024-03-01"),
		})
	}
}

func dependentSpec(t *testing.T, given []projectiontest.Event, want ...model.Dependent) {
	t.Helper()
	projectiontest.Run(t, projectiontest.Spec[model.Dependent]{
		Projection: ops.ProjectDependent(registry.Dependent{}), Codec: model.DependentCodec,
		Given: given, Want: want,
	})
}
