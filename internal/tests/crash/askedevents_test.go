package crash

import (
	"fmt"
	"time"
)

// Events of a time series, whose keeper is renamed while it goes on; of plans and boxes, with tariffs whose changes say
// which copies follow.

const (
	terminals = 4
	plans     = 8
	tariffs   = 3
)

// Tariffs r0, r1 and so on have copies follow in the commit of a change, or not at all. Copies of x0 and x1 follow
// after it: all follow each change of x1, and those in plans of one name each change of x0. A plan that has one of
// those keeps its name, so that it does not hang on the moment at which copies follow.
const (
	someLater = "x0"
	allLater  = "x1"
	laterName = "By"
)

var names = []string{"Ax", laterName, "Cz"}

func (w *writer) name() string { return w.pick(names...) }

func (w *writer) setTariffs() {
	all := []string{someLater, allLater}
	for i := range tariffs {
		all = append(all, fmt.Sprint("r", i))
	}
	for _, id := range all {
		w.write("TariffSet", w.row(id), data{"tariff": id, "price": len(w.lines), "quiet": false})
	}
}

func (w *writer) tariff() string { return fmt.Sprint("r", w.rng.IntN(tariffs)) }

// plan writes an event of a plan, or of a tariff.
func (w *writer) plan() {
	i := w.gone/30 + w.rng.IntN(plans)
	plan, later := fmt.Sprint("p", i), fmt.Sprint("e", i)
	switch n := w.rng.IntN(100); {
	case n < 25:
		w.takePlan(plan)
	case n < 45:
		w.write("PlanTaken", w.row(later), data{"plan": later, "name": names[i%len(names)], "tariff": w.laterTariff(),
			"spare": w.maybe(w.laterTariff())})
	case n < 55:
		w.write("PlanRenamed", w.row(plan), data{"plan": plan, "name": w.name()})
	case n < 60:
		plan = w.pick(plan, later)
		w.write("PlanEnded", w.row(plan), data{"plan": plan})
	case n < 80:
		w.correctLater(w.laterTariff())
	case w.bySubject: // the price stays
	case n < 90:
		w.correct(w.tariff())
	default:
		w.write("TariffSet", "", data{"tariff": w.tariff(), "price": len(w.lines), "quiet": w.rng.IntN(2) == 0})
	}
}

func (w *writer) takePlan(plan string) {
	w.write("PlanTaken", w.row(plan), data{"plan": plan, "name": w.name(), "tariff": w.tariff(),
		"spare": w.maybe(w.tariff())})
}

// laterTariff is one whose copies follow after its changes: all of them, where partitions take turns.
func (w *writer) laterTariff() string {
	if w.bySubject {
		return allLater
	}
	return w.pick(someLater, allLater)
}

func (w *writer) correctLater(tariff string) {
	d := data{"tariff": tariff, "price": len(w.lines), "targets": []string{}, "later": true}
	if tariff == someLater {
		d["targets"], d["name"] = []string{"Plan"}, laterName
	}
	w.write("TariffCorrected", w.row(tariff), d)
}

// correct has copies of some rows follow in the commit, or asks for those of rows that have none.
func (w *writer) correct(tariff string) {
	targets := [][]string{{}, {"Plan"}, {"Home"}, {"Home", "Plan"}, {"Card"}}[w.rng.IntN(5)]
	w.write("TariffCorrected", "", data{"tariff": tariff, "price": len(w.lines), "targets": targets,
		"name": w.maybe(w.name()), "later": false})
}

// maybe is the value, or none.
func (w *writer) maybe(value string) any {
	if w.rng.IntN(2) == 0 {
		return nil
	}
	return value
}

// box writes an event of the parts of a home that lie deep, or of its name, which they repeat.
func (w *writer) box(home string) {
	upper := w.rng.IntN(2) == 0
	switch n := w.rng.IntN(100); {
	case n < 45:
		d := data{"home": home, "upper": upper, "tariff": w.maybe(allLater), "keeper": w.owner()}
		if upper {
			d["tariff"] = w.maybe(w.tariff())
		}
		d["papers"] = [][]string{{}, {w.name()}, {"will", w.name()}}[w.rng.IntN(3)]
		w.write("BoxFilled", w.row(home), d)
	case n < 65:
		sponsors := []string{}
		for i := range branches {
			if w.rng.IntN(2) == 0 {
				sponsors = append(sponsors, fmt.Sprint("b", i))
			}
		}
		w.write("BoxShared", w.row(home), data{"home": home, "upper": upper, "sponsors": sponsors})
	case n < 75:
		w.write("BoxTaken", w.row(home), data{"home": home, "upper": upper})
	default:
		w.write("HomeRenamed", w.row(home), data{"home": home, "name": w.name()})
	}
}

// mostKept is how many readings of a terminal are kept until all that is known of it is to go: one commit of a shared
// store takes them all away.
const mostKept = 12

// terminal writes an event of a terminal, most of them readings.
func (w *writer) terminal() {
	id := fmt.Sprint("t", w.gone/50+w.rng.IntN(terminals))
	switch n := w.rng.IntN(100); {
	case n < 10:
		w.write("TerminalGiven", w.row(id), data{"terminal": id, "keeper": w.owner()})
	case n < 15:
		w.write("TerminalLeft", w.row(id), data{"terminal": id})
	case n < 18 || w.kept[id] >= mostKept:
		w.write("TerminalScrapped", w.row(id), data{"terminal": id})
		w.kept[id] = 0
	default:
		w.read(id)
	}
}

// read writes a reading, of now or of some time ago, at which there may be others. Some are of two times, and not taken
// where these are one.
func (w *writer) read(terminal string) {
	const step = 30 * time.Second
	at := w.now.Truncate(step).Add(-step * time.Duration(w.rng.IntN(20)))
	d := data{"terminal": terminal, "channel": w.rng.IntN(3), "at": at, "reading": len(w.lines)}
	switch n := w.rng.IntN(20); {
	case n < 5:
		d["again"] = at.Add(-step * time.Duration(1+w.rng.IntN(5)))
	case n == 5 && !w.bySubject:
		d["again"] = at
	}
	w.kept[terminal] += 2
	w.write("TerminalRead", w.row(terminal), d)
}
