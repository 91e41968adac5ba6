package registry_test

import (
	"testing"

	"github.com/foldql/foldql/projection/projectiontest"

	"example.com/registry/model"
	"example.com/registry/projection/ops"
	"example.com/registry/projection/registry"
)

func TestVersionKeepsWhatWasPublishedAndDeprecated(t *testing.T) {
	withEngine := published("a", "1.0.0", "2024-01-01", "MIT", "b")
	withEngine.Data.(map[string]any)["nodeEngine"] = ">=18"
	whole := model.Version{Version: "1.0.0", PublishedAt: at("2024-01-01"), License: new("MIT"), NodeEngine: new(">=18"),
		Dependencies: []string{"b"}}
	old := whole
	old.Deprecated = new("broken")

	for _, tt := range []struct {
		name  string
		given []projectiontest.Event
		want  []model.Version
	}{
		{"published", []projectiontest.Event{withEngine}, []model.Version{whole}},
		{"published, then deprecated", []projectiontest.Event{withEngine, deprecated("a", "1.0.0", "broken")},
			[]model.Version{old}},
		{"deprecated, then published", []projectiontest.Event{deprecated("a", "1.0.0", "broken"), withEngine},
			[]model.Version{old}},
		{"deprecated alone", []projectiontest.Event{deprecated("a", "1.0.0", "broken")},
			[]model.Version{{Version: "1.0.0", Deprecated: new("broken")}}},
		{"deprecated for another reason", []projectiontest.Event{
			deprecated("a", "1.0.0", "broken"), deprecated("a", "1.0.0", "unsafe"),
		}, []model.Version{{Version: "1.0.0", Deprecated: new("unsafe")}}},
		{"of equal precedence, yet apart", []projectiontest.Event{
			deprecated("a", "3.0.0beta4", "old"), deprecated("a", "3.0.0-beta4", "old"), deprecated("a", "3.0.0-beta4+5", "old"),
		}, []model.Version{
			{Version: "3.0.0beta4", Deprecated: new("old")}, {Version: "3.0.0-beta4", Deprecated: new("old")},
			{Version: "3.0.0-beta4+5", Deprecated: new("old")},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for i := range tt.want {
				tt.want[i].Package, tt.want[i].Order = "a", registry.Order(tt.want[i].Version)
			}
			projectiontest.Run(t, projectiontest.Spec[model.Version]{
				Projection: ops.ProjectVersion(registry.Version{}), Codec: model.VersionCodec,
				Given: tt.given, Want: tt.want,
			})
		})
	}
}
