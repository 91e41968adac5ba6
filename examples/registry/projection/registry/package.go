package registry

import (
	"slices"
	"strings"

	"github.com/foldql/foldql/projection"

	"example.com/registry/event"
	"example.com/registry/model"
	"example.com/registry/projection/ops"
)

// Package keeps what is known of a package as a whole, in whatever order its events come.
type Package struct{}

// PackageCreated notes when a package began.
func (Package) PackageCreated(e event.PackageCreated, _ projection.Meta) []projection.Op {
	return []projection.Op{change(e.Package, func(p *model.Package) { p.CreatedAt = &e.CreatedAt })}
}

// VersionPublished counts a version, and makes it the latest where it is.
func (Package) VersionPublished(e event.VersionPublished, _ projection.Meta) []projection.Op {
	order := Order(e.Version)
	return []projection.Op{change(e.Package, func(p *model.Package) {
		p.Releases++
		if p.LatestOrder == nil || later(order, *p.LatestOrder) {
			p.LatestVersion, p.LatestOrder = &e.Version, &order
			p.LatestAt, p.License = &e.PublishedAt, &e.License
			p.Deprecated = slices.Contains(p.DeprecatedVersions, e.Version)
		}
	})}
}

// VersionDeprecated adds a version to those that are deprecated.
func (Package) VersionDeprecated(e event.VersionDeprecated, _ projection.Meta) []projection.Op {
	return []projection.Op{change(e.Package, func(p *model.Package) {
		at, known := slices.BinarySearchFunc(p.DeprecatedVersions, e.Version, compare)
		if !known {
			p.DeprecatedVersions = slices.Insert(p.DeprecatedVersions, at, e.Version)
		}
		p.Deprecated = p.LatestVersion != nil && slices.Contains(p.DeprecatedVersions, *p.LatestVersion)
	})}
}

// change alters the row of a package, or the first one: any event may be the first of its package.
func change(name string, alter func(*model.Package)) projection.Op {
	return ops.Package.Upsert(name, model.Package{Name: name}, alter)
}

func compare(a, b string) int { return strings.Compare(Order(a), Order(b)) }
