// Package registry folds the events of a package registry.
package registry

import (
	"github.com/foldql/foldql/projection"

	"example.com/registry/event"
	"example.com/registry/model"
	"example.com/registry/projection/ops"
)

// Projections returns every projection of the registry, ready to run.
func Projections() []projection.Projection {
	return []projection.Projection{
		ops.ProjectPackage(Package{}),
		ops.ProjectVersion(Version{}),
		ops.ProjectDependent(Dependent{}),
	}
}

// Package keeps what is known of a package as a whole.
type Package struct{}

func (Package) PackageCreated(e event.PackageCreated, _ projection.Meta) []projection.Op {
	return []projection.Op{change(e.Package, func(p *model.Package) { p.CreatedAt = &e.CreatedAt })}
}

func (Package) VersionPublished(e event.VersionPublished, _ projection.Meta) []projection.Op {
	order := Order(e.Version)
	return []projection.Op{change(e.Package, func(p *model.Package) {
		p.Releases++
		if p.LatestOrder == nil || later(order, *p.LatestOrder) {
			p.LatestVersion, p.LatestOrder = &e.Version, &order
			p.LatestAt, p.License = &e.PublishedAt, &e.License
		}
	})}
}

func (Package) VersionDeprecated(e event.VersionDeprecated, _ projection.Meta) []projection.Op {
	return []projection.Op{change(e.Package, func(p *model.Package) { p.DeprecatedReleases++ })}
}

// change alters the row of a package, or the first one: events may come before the package's own.
func change(name string, alter func(*model.Package)) projection.Op {
	return ops.Package.Upsert(name, model.Package{Name: name}, alter)
}

// Version keeps each version of a package.
type Version struct{}

func (Version) VersionPublished(e event.VersionPublished, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Version.Set(model.Version{
		Package:      e.Package,
		Order:        Order(e.Version),
		Version:      e.Version,
		PublishedAt:  &e.PublishedAt,
		License:      &e.License,
		NodeEngine:   e.NodeEngine,
		Dependencies: e.Dependencies,
	})}
}

func (Version) VersionDeprecated(e event.VersionDeprecated, _ projection.Meta) []projection.Op {
	key := model.VersionKey{Package: e.Package, Order: Order(e.Version)}
	unseen := model.Version{Package: key.Package, Order: key.Order, Version: e.Version}
	return []projection.Op{ops.Version.Upsert(key, unseen, func(v *model.Version) { v.Deprecated = &e.Reason })}
}

// Dependent fans one published version out into a row per dependency.
type Dependent struct{}

func (Dependent) VersionPublished(e event.VersionPublished, _ projection.Meta) []projection.Op {
	rows := make([]projection.Op, len(e.Dependencies))
	for i, dependency := range e.Dependencies {
		rows[i] = ops.Dependent.Set(model.Dependent{
			Dependency: dependency, Dependent: e.Package, Version: e.Version, PublishedAt: e.PublishedAt,
		})
	}
	return rows
}
