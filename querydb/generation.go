package querydb

import (
	"context"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/internal/generation"
)

// Generation is which generation of a model's table serves, or is being built where the DB is that of a build, as it is
// on record.
type Generation struct {
	Number int
	// Begun reports whether there is one, or was: somebody has begun to fold into the table. Else the Number is 0, as that
	// of the first one to begin in place is. One that is built beside none has another number from the start.
	Begun bool
	// Version is that of the models that it was begun for, where several projections write the table; else "".
	Version string

	none     bool // is being built
	build    bool // it is the one that is being built
	revision uint64
	beside   generation.Beside
	besides  uint64 // revision of the note of those beside
}

// Next is the number of the generation that follows.
func (g Generation) Next() int {
	if g.Begun || g.build || g.beside.Last > 0 {
		return max(g.Number, g.beside.Last) + 1
	}
	return 0
}

// NextBuilt is the number of the next one that is built beside the one that serves, or beside none.
func (g Generation) NextBuilt() int { return g.built().Next() }

// Same reports whether nothing was recorded of the table's generations between two readings, on a MultiWriter store.
func (g Generation) Same(o Generation) bool {
	return g.Number == o.Number && g.Begun == o.Begun && g.revision == o.revision && g.besides == o.besides
}

// BuildsNone reports whether the DB is that of a build, and there is no generation that is being built.
func (g Generation) BuildsNone() bool { return g.build && g.none }

// there reports whether there is such a generation, and not only a number that it would follow.
func (g Generation) there() bool {
	if g.build {
		return !g.none
	}
	return g.Begun
}

// generation reads which generation of a table serves, and which there are beside it.
func (n *Notes) generation(ctx context.Context, table string) (Generation, error) {
	all, err := n.generations(ctx, []string{table})
	if err != nil {
		return Generation{}, err
	}
	return all[0], nil
}

// generations is generation for tables, aligned with them.
func (n *Notes) generations(ctx context.Context, tables []string) ([]Generation, error) {
	both := make([]keys.Key, 0, 2*len(tables))
	for _, table := range tables {
		both = append(both, keys.Key{PK: generation.Kind, SK: table}, keys.Key{PK: generation.KindBeside, SK: table})
	}
	notes, err := n.GetAll(ctx, both)
	if err != nil {
		return nil, err
	}
	all := make([]Generation, len(tables))
	for i := range all {
		if all[i], err = generationOf(&notes[2*i], &notes[2*i+1]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// generationOf is what the notes of a table say: of the generation that serves, and of those beside it.
func generationOf(serving, beside *Note) (g Generation, err error) {
	g = Generation{Begun: serving.Value != nil, revision: serving.Revision, besides: beside.Revision}
	if g.Begun {
		g.Number, g.Version, err = generation.Parse(serving.Value)
	}
	if g.Number == generation.None {
		g.Number, g.Begun = 0, false
	}
	if err == nil && beside.Value != nil {
		g.beside, err = generation.ParseBeside(beside.Value)
	}
	return g, err
}

// built is the generation that is being built beside the one that serves.
func (g Generation) built() Generation {
	if g.build {
		return g
	}
	g.build, g.none, g.Version = true, g.beside.Building == nil, ""
	g.Begun = g.Begun || !g.none
	g.beside.Last = max(g.beside.Last, g.Number)
	if !g.none {
		g.Number, g.Version = g.beside.Building.Number, g.beside.Building.Version
	}
	g.revision, g.besides = g.besides, g.revision
	return g
}

// keeps reports whether a generation is kept beside the one that serves: it may serve again.
func (g Generation) keeps(number int) bool {
	building, former := g.beside.Building, g.beside.Former
	return building != nil && building.Number == number || former != nil && former.Number == number
}

// Beside is which generations of a table there are beside the one that serves; -1 stands for none.
type Beside struct {
	Building int
	// Held says that the one that is being built has served, and is not to again before somebody asks for it.
	Held   bool
	Former int
	Since  time.Time // when the former one ceased to serve
	// Aborted is the version of the model whose build was aborted, unless one was begun since; else "".
	Aborted string
}

// Beside returns the generations beside the recorded one, which is of a DB that is not for a build.
func (g Generation) Beside() Beside {
	b := Beside{Building: -1, Former: -1, Aborted: g.beside.Aborted}
	if n := g.beside.Building; n != nil {
		b.Building, b.Held = n.Number, n.Held
	}
	if n := g.beside.Former; n != nil {
		b.Former, b.Since = n.Number, n.Since
	}
	return b
}

func (g Generation) all() generation.All {
	serving := generation.Numbered{Number: g.Number, Version: g.Version}
	if !g.Begun {
		serving.Number = generation.None
	}
	return generation.All{Serving: serving, Beside: g.beside}
}
