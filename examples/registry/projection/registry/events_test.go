package registry_test

import (
	"time"

	"github.com/foldql/foldql/projection/projectiontest"
)

// The events of the specs, and the times in them.

func created(name string) projectiontest.Event {
	return projectiontest.Event{Type: "PackageCreated", Subject: name, Data: map[string]any{
		"package": name, "createdAt": "2023-12-31T00:00:00Z",
	}}
}

func published(name, version, day, license string, dependencies ...string) projectiontest.Event {
	if dependencies == nil {
		dependencies = []string{}
	}
	return projectiontest.Event{Type: "VersionPublished", Subject: name, Data: map[string]any{
		"package": name, "version": version, "publishedAt": day + "T02:00:00.000+02:00", "license": license,
		"dependencies": dependencies,
	}}
}

func deprecated(name, version, reason string) projectiontest.Event {
	return projectiontest.Event{Type: "VersionDeprecated", Subject: name, Data: map[string]any{
		"package": name, "version": version, "deprecatedAt": "2024-03-01T00:00:00Z", "reason": reason,
	}}
}

// at is the beginning of a day.
func at(day string) *time.Time {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic(err)
	}
	return &t
}
