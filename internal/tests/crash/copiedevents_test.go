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
	switch w.rng.IntN(9) {
	case 0, 1:
		w.terminal()
		return
	case 2, 3:
		w.plan()
		return
	case 4:
		w.box(fmt.Sprint("h", w.gone/100+w.rng.IntN(homes)))
		return
	}
	card, home := fmt.Sprint("c", w.gone/3+w.rng.IntN(cards)), fmt.Sprint("h", w.gone/100+w.rng.IntN(homes))
	switch n := w.rng.IntN(100); {
	case n < 15:
		w.nameOwner(fmt.Sprint("o", w.gone/10+w.rng.IntN(owners)))
	case n < 20:
		w.loseOwner(fmt.Sprint("o", w.gone/10+w.rng.IntN(owners)))
	case n < 28 && !w.bySubject:
		w.nameBranch(w.branch())
	case n < 55:
		w.write("CardIssued", w.row(card), data{"card": card, "branch": w.branch(), "holder": w.owner(), "seal": w.owner()})
	case n < 65:
		w.write("CardUsed", w.row(card), data{"card": card})
	case n < 70:
		w.write("CardReturned", w.row(card), data{"card": card})
	case n < 82:
		w.formHome(home)
	case n < 92:
		w.write("KeyGiven", w.row(home), data{"home": home, "number": w.rng.IntN(5), "holder": w.owner(),
			"maker": w.branch()})
	case n < 96:
		w.write("KeyLost", w.row(home), data{"home": home, "number": w.rng.IntN(5)})
	default:
		w.write("HomeLeft", w.row(home), data{"home": home})
	}
}

func (w *writer) formHome(home string) {
	holders := []string{}
	for range w.rng.IntN(4) {
		holders = append(holders, w.pick("", "o0", "o1", "o2"))
	}
	w.write("HomeFormed", w.row(home), data{"home": home, "name": w.name(), "branch": w.branch(), "head": w.owner(),
		"holders": holders})
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
	if w.rng.IntN(2) == 0 {
		w.nameBranch("b0")
	} else {
		w.stirOwner()
	}
}

// stirOwner changes an owner, or takes it away.
func (w *writer) stirOwner() {
	owner := fmt.Sprint("o", w.gone/10+w.rng.IntN(owners))
	if w.rng.IntN(2) == 0 {
		w.nameOwner(owner)
	} else {
		w.loseOwner(owner)
	}
}

func (w *writer) nameOwner(owner string) {
	w.write("OwnerNamed", w.row(owner), data{"owner": owner, "name": fmt.Sprint(len(w.lines))})
}

func (w *writer) loseOwner(owner string) {
	w.write("OwnerGone", w.row(owner), data{"owner": owner})
}

// row is the subject of an event that is about a row: a log with several partitions has it.
func (w *writer) row(id string) string {
	if w.bySubject {
		return id
	}
	return ""
}

func (w *writer) nameBranch(branch string) {
	w.write("BranchNamed", w.row(branch), data{"branch": branch, "name": fmt.Sprint("name ", len(w.lines)),
		"head": w.owner()})
}

func (w *writer) branch() string { return fmt.Sprint("b", w.rng.IntN(branches)) }

// owner is one, whether there is such a one now or not, or none.
func (w *writer) owner() any {
	if w.rng.IntN(4) == 0 {
		return nil
	}
	return fmt.Sprint("o", w.gone/10+w.rng.IntN(owners))
}
