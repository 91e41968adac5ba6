package shop

import (
	"github.com/foldql/foldql/event"
	"github.com/foldql/foldql/model"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/projection/ops"
)

// Deployment keeps the version of each plugin in each environment.
type Deployment struct{}

func (Deployment) PluginDeployed(e event.PluginDeployed, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Deployment.Set(model.Deployment{
		Environment: e.Environment, PluginName: e.PluginName, Version: e.Version, DeployedAt: e.DeployedAt,
	})}
}
