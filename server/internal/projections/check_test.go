package projections

import (
	"strings"
	"testing"

	"github.com/foldql/foldql/querydb"
)

// The projector of a time series makes its history too, so it is asked for once.
func TestAHistoryNeedsNoProjectionOfItsOwn(t *testing.T) {
	err := Check([]*querydb.Model{{Name: "Gauge"}, {Name: "GaugeEvent", HistoryOf: "Gauge"}}, nil)
	if err == nil || !strings.Contains(err.Error(), "ops.ProjectGauge)") || strings.Contains(err.Error(), "GaugeEvent") {
		t.Errorf("without a projection: %v, want an error about Gauge alone", err)
	}
}
