package projection_test

import (
	"encoding/json"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// casedClubs are clubs whose identifiers make one key where they differ in casing alone, and the picks that refer to
// them.
type casedClubs struct {
	models []*querydb.Model
	projection.Projection
}

func newCasedClubs(mode refMode) *casedClubs {
	club, codec := *clubModel, *clubCodec
	club.PK.Layout.Casing, codec.Model = keys.CasingLower, &club
	clubs := *clubOps
	clubs.Codec, clubs.Partition = &codec, func(id string) (string, error) {
		return club.PK.Layout.Compose(keys.String(id))
	}
	clubs.Key = func(id string) (keys.Key, error) {
		pk, err := clubs.Partition(id)
		return keys.Key{PK: pk}, err
	}
	picks := mode.picks()
	picks.Codec.References.(querydb.ReferencesOf[Pick])[0].Source = &club
	project := func(e *eventlog.Event, _ projection.Meta) (ops []projection.Op, err error) {
		var all []ref
		err = json.Unmarshal(e.Data, &all)
		for _, o := range all {
			switch o.Op {
			case "club":
				ops = append(ops, clubs.Set(Club{o.ID, o.Text}))
			case "noclub":
				ops = append(ops, clubs.Delete(o.ID))
			default:
				ops = append(ops, o.op(picks))
			}
		}
		return ops, err
	}
	all := projection.Group([]projection.Projection{
		projection.New(picks, projection.Projection{Name: "picks", Events: []string{"Pick"}, Project: project}),
		projection.New(&clubs, projection.Projection{Name: "clubs", Events: []string{"Club"}, Project: project}),
	})
	return &casedClubs{[]*querydb.Model{&club, picks.Codec.Model}, all[0]}
}

// fold folds what is new in a log of the events.
func (c *casedClubs) fold(t *testing.T, store driver.Driver, window int, events ...[]ref) {
	t.Helper()
	var all []eventlog.Event
	for _, ops := range events {
		all = append(all, refEvent("", ops...))
	}
	cfg := quick()
	cfg.WindowEvents = window
	r, err := projection.NewRunner(c.Projection, logOf(t, all...), open(t, store, c.models...), cfg)
	if err == nil {
		err = r.Run(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}
