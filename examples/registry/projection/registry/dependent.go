package registry

import (
	"github.com/foldql/foldql/projection"

	"example.com/registry/event"
	"example.com/registry/model"
	"example.com/registry/projection/ops"
)

// Dependent fans one published version out into a row per dependency.
type Dependent struct{}

// VersionPublished notes each dependency of a version.
func (Dependent) VersionPublished(e event.VersionPublished, _ projection.Meta) []projection.Op {
	rows := make([]projection.Op, len(e.Dependencies))
	for i, dependency := range e.Dependencies {
		first := model.Dependent{
			Dependency: dependency, Dependent: e.Package,
			Since: e.PublishedAt, Version: e.Version, PublishedAt: e.PublishedAt,
		}
		key := model.DependentKey{Dependency: dependency, Dependent: e.Package}
		rows[i] = ops.Dependent.Upsert(key, first, func(d *model.Dependent) { widen(d, &e) })
	}
	return rows
}

// widen takes a version that names the dependency too into the row.
func widen(d *model.Dependent, e *event.VersionPublished) {
	if e.PublishedAt.Before(d.Since) {
		d.Since = e.PublishedAt
	}
	at := e.PublishedAt.Compare(d.PublishedAt)
	if at > 0 || at == 0 && compare(e.Version, d.Version) > 0 { // the higher of two that came at once
		d.Version, d.PublishedAt = e.Version, e.PublishedAt
	}
}
