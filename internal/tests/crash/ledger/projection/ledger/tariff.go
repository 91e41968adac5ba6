package ledger

import (
	"github.com/foldql/foldql/internal/tests/crash/ledger/event"
	"github.com/foldql/foldql/internal/tests/crash/ledger/model"
	"github.com/foldql/foldql/internal/tests/crash/ledger/projection/ops"
	"github.com/foldql/foldql/projection"
)

// Tariff keeps what plans cost. Its events say which copies follow.
type Tariff struct{}

func (Tariff) TariffSet(e event.TariffSet, _ projection.Meta) []projection.Op {
	set := ops.Tariff.Set(model.Tariff{ID: e.Tariff, Price: e.Price})
	if e.Quiet {
		return []projection.Op{set.NoCascade()}
	}
	return []projection.Op{set}
}

func (Tariff) TariffCorrected(e event.TariffCorrected, _ projection.Meta) []projection.Op {
	how := projection.Cascade{Targets: e.Targets, Mode: projection.Transactional}
	if e.Later {
		how.Mode = projection.Eventual
	}
	if e.Name != nil {
		how.Filter = map[string]any{"name": *e.Name}
	}
	correct := ops.Tariff.Update(e.Tariff, func(t *model.Tariff) { t.Price = e.Price })
	return []projection.Op{correct.Cascade(how)}
}
