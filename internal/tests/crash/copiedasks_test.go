package crash

import (
	"fmt"
	"math/rand/v2"

	"github.com/foldql/foldql/internal/tests/crash/plain"
)

// copiedAsks draws a question about rows that hold copies: for all but the copies that follow some time after the rows
// that they are of. A seal follows in the same commit.
func copiedAsks(rng *rand.Rand) ask {
	const branch = "{ id name headId }"
	switch rng.IntN(6) {
	case 0:
		return plainOne("Owner", fmt.Sprint("o", rng.IntN(owners)), "id name changed")
	case 1:
		return plainOne("Branch", fmt.Sprint("b", rng.IntN(branches)), "id name headId")
	case 2:
		return plainOne("Pass", fmt.Sprint("c", rng.IntN(cards)), "card branchId uses")
	case 3, 4:
		return plainOne("Card", fmt.Sprint("c", rng.IntN(cards)), "card holderId branchId issuerId issuer "+branch+
			" sealId seal { id name } uses changed")
	}
	return plainOne("Home", fmt.Sprint("h", rng.IntN(homes)), "id name branchId headId safe { turns keys { number "+
		"holderId makerId maker "+branch+" } } changed")
}

// plainOne asks for a row that a plain fold knows.
func plainOne(model, id, fields string) ask {
	q := oneOf(model, id, fields)
	q.projector, q.id = plain.Projection, id
	return q
}
