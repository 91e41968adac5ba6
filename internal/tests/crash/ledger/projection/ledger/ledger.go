// Package ledger holds projectors that use every op there is. What they make of the events need not make sense in a
// bank; it must be the same however often the way there was interrupted.
package ledger

import (
	"github.com/foldql/foldql/internal/tests/crash/ledger/projection/ops"
	"github.com/foldql/foldql/projection"
)

// Projections returns every projection of the ledger.
func Projections() []projection.Projection {
	return []projection.Projection{
		ops.ProjectBalance(Balance{}),
		ops.ProjectTotals(Totals{}),
		ops.ProjectCurrency(Currency{}),
		ops.ProjectEntry(Entry{}),
		ops.ProjectProfile(Profile{}),
		ops.ProjectHold(Hold{}),
		ops.ProjectLevel(Level{}),
		ops.ProjectContact(Contact{}),
		ops.ProjectWorth(Worth{}),
		ops.ProjectMark(Mark{}),
		ops.ProjectOwner(Owner{}),
		ops.ProjectBranch(Branch{}),
		ops.ProjectCard(Card{}),
		ops.ProjectPasses(Passes{}),
		ops.ProjectUses(Uses{}),
		ops.ProjectTariff(Tariff{}),
		ops.ProjectPlan(Plan{}),
		ops.ProjectKeepers(Keepers{}),
		ops.ProjectReadings(Readings{}),
		ops.ProjectMeter(Meter{}),
		ops.ProjectHome(Home{}),
	}
}
