package projectors

import (
	"github.com/foldql/foldql/internal/shop/event"
	"github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/internal/shop/projection/ops"
	"github.com/foldql/foldql/projection"
)

// Deployment keeps the version of each plugin in each environment.
type Deployment struct{}

func (Deployment) PluginDeployed(e event.PluginDeployed, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Deployment.Set(model.Deployment{
		Environment: e.Environment, PluginName: e.PluginName, Version: e.Version, DeployedAt: e.DeployedAt,
	})}
}
