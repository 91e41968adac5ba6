package crash

import (
	"fmt"
	"math/rand/v2"

	"github.com/foldql/foldql/internal/tests/crash/plain"
)

// copiedAsks draws a question about rows that hold copies: for all but the copies that follow some time after the rows
// that they are of. A seal follows in the same commit.
func copiedAsks(rng *rand.Rand) ask {
	const tariff = "{ id price }"
	switch rng.IntN(11) {
	case 0:
		return plainOne("Owner", fmt.Sprint("o", rng.IntN(owners)), "id name changed")
	case 1:
		return plainOne("Branch", fmt.Sprint("b", rng.IntN(branches)), "id name headId")
	case 2:
		return plainOne("Pass", fmt.Sprint("c", rng.IntN(cards)), "card branchId uses")
	case 3, 4:
		return cardAsk(fmt.Sprint("c", rng.IntN(cards)))
	case 5:
		return plainOne("Tariff", fmt.Sprint("r", rng.IntN(tariffs)), "id price")
	case 6:
		return plainOne("Plan", fmt.Sprint("p", rng.IntN(plans)), "plan name tariffId tariff "+tariff+" spareId spare "+
			tariff+" changed")
	case 7:
		return plainOne("Terminal", fmt.Sprint("t", rng.IntN(terminals)), "terminal keeperId reading at")
	case 8:
		return plainHistory("Terminal", fmt.Sprint("t", rng.IntN(terminals)), "terminal reading at")
	}
	const box = " tariffId keeperId keeper { id name } sponsorIds papers { number name }"
	return plainOne("Home", fmt.Sprint("h", rng.IntN(homes)), "id name branchId headId safe { turns keys { number "+
		"holderId makerId maker "+branchFields+" } upper { tariff "+tariff+box+" } lower {"+box+" } } changed")
}

// plainHistory asks for the whole history of a row that a plain fold knows.
func plainHistory(model, id, fields string) ask {
	return ask{
		model: model + "Event", projector: plain.Projection, id: id, partition: id,
		query: fmt.Sprintf("{ r: %sEvents(id: %q, limit: 1000) { items { %s } } }", model, id, fields),
	}
}

const branchFields = "{ id name headId }"

func cardAsk(card string) ask {
	return plainOne("Card", card, "card holderId branchId issuerId issuer "+branchFields+
		" sealId seal { id name } uses changed")
}

// plainOne asks for a row that a plain fold knows.
func plainOne(model, id, fields string) ask {
	q := oneOf(model, id, fields)
	q.projector, q.id = plain.Projection, id
	return q
}
