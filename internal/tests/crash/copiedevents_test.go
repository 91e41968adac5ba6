package crash

import "fmt"

// Events of rows that hold copies of others, and of those others. A branch stays once it has a name, so that no event
// waits for one: when it is retried hangs on where windows end.

const (
	branches = 3
	owners   = 6
	cards    = 60
	homes    = 4
)

func (w *writer) copied() {
	card, home := fmt.Sprint("c", w.rng.IntN(cards)), fmt.Sprint("h", w.rng.IntN(homes))
	switch n := w.rng.IntN(100); {
	case n < 15:
		w.write("OwnerNamed", "", data{"owner": fmt.Sprint("o", w.rng.IntN(owners)), "name": fmt.Sprint(len(w.lines))})
	case n < 20:
		w.write("OwnerGone", "", data{"owner": fmt.Sprint("o", w.rng.IntN(owners))})
	case n < 28:
		w.nameBranch(w.branch())
	case n < 55:
		w.write("CardIssued", "", data{"card": card, "branch": w.branch(), "holder": w.owner(), "seal": w.owner()})
	case n < 65:
		w.write("CardUsed", "", data{"card": card})
	case n < 70:
		w.write("CardReturned", "", data{"card": card})
	case n < 82:
		holders := []string{}
		for range w.rng.IntN(4) {
			holders = append(holders, w.pick("", "o0", "o1", "o2"))
		}
		w.write("HomeFormed", "", data{"home": home, "name": w.pick("Ax", "By", "Cz"), "branch": w.branch(),
			"head": w.owner(), "holders": holders})
	case n < 92:
		w.write("KeyGiven", "", data{"home": home, "number": w.rng.IntN(5), "holder": w.owner(), "maker": w.branch()})
	case n < 96:
		w.write("KeyLost", "", data{"home": home, "number": w.rng.IntN(5)})
	default:
		w.write("HomeLeft", "", data{"home": home})
	}
}

// crowd issues thousands of cards of one branch: each change of it, and of an owner, is a cascade to all of them, or to
// many. Some changes come while the crowd still grows, and the last ones right behind it.
func (w *writer) crowd(most int) {
	for i := range most/10 + w.rng.IntN(most) {
		w.write("CardIssued", "", data{"card": fmt.Sprint("k", i), "branch": "b0", "holder": w.owner()})
		if w.rng.IntN(most/5) == 0 {
			w.stir()
		}
	}
	for range 1 + w.rng.IntN(4) {
		w.stir()
	}
}

// stir changes a row of which many have copies.
func (w *writer) stir() {
	owner := fmt.Sprint("o", w.rng.IntN(owners))
	switch w.rng.IntN(4) {
	case 0, 1:
		w.nameBranch("b0")
	case 2:
		w.write("OwnerNamed", "", data{"owner": owner, "name": fmt.Sprint(len(w.lines))})
	default:
		w.write("OwnerGone", "", data{"owner": owner})
	}
}

func (w *writer) nameBranch(branch string) {
	w.write("BranchNamed", "", data{"branch": branch, "name": fmt.Sprint("name ", len(w.lines)), "head": w.owner()})
}

func (w *writer) branch() string { return fmt.Sprint("b", w.rng.IntN(branches)) }

// owner is one, whether there is such a one now or not, or none.
func (w *writer) owner() any {
	if w.rng.IntN(4) == 0 {
		return nil
	}
	return fmt.Sprint("o", w.rng.IntN(owners))
}
