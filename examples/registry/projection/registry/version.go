package registry

import (
	"github.com/foldql/foldql/projection"

	"example.com/registry/event"
	"example.com/registry/model"
	"example.com/registry/projection/ops"
)

// Version keeps each version of a package.
type Version struct{}

// VersionPublished adds a version, or what was not known of one that is deprecated already.
func (Version) VersionPublished(e event.VersionPublished, _ projection.Meta) []projection.Op {
	return []projection.Op{version(e.Package, e.Version, func(v *model.Version) {
		v.PublishedAt, v.License = &e.PublishedAt, &e.License
		v.NodeEngine, v.Dependencies = e.NodeEngine, e.Dependencies
	})}
}

// VersionDeprecated notes why a version is deprecated.
func (Version) VersionDeprecated(e event.VersionDeprecated, _ projection.Meta) []projection.Op {
	return []projection.Op{version(e.Package, e.Version, func(v *model.Version) { v.Deprecated = &e.Reason })}
}

// version alters the row of a version, or the first one.
func version(name, version string, alter func(*model.Version)) projection.Op {
	key := model.VersionKey{Package: name, Order: Order(version)}
	return ops.Version.Upsert(key, model.Version{Package: name, Order: key.Order, Version: version}, alter)
}
