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

// keyedClubs are clubs whose keys have a form of their own, and the picks that refer to them.
type keyedClubs struct {
	models []*querydb.Model
	projection.Projection
}

// newCasedClubs are clubs whose identifiers make one key where they differ in casing alone.
func newCasedClubs(mode refMode) *keyedClubs {
	pk := idHalf()
	pk.Layout.Casing = keys.CasingLower
	return newKeyedClubs(mode, pk, querydb.Half{})
}

func newKeyedClubs(mode refMode, pk, sk querydb.Half) *keyedClubs {
	club, codec := *clubModel, *clubCodec
	club.PK, club.SK, codec.Model = pk, sk, &club
	clubs := *clubOps
	clubs.Codec = &codec
	clubs.Key = func(id string) (keys.Key, error) { return querydb.KeyOf(&codec, &Club{ID: id}) }
	clubs.Partition = func(id string) (string, error) {
		key, err := clubs.Key(id)
		return key.PK, err
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
			case "noclubs":
				ops = append(ops, clubs.DeletePartition(o.ID))
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
	return &keyedClubs{[]*querydb.Model{&club, picks.Codec.Model}, all[0]}
}

// fold folds what is new in a log of the events.
func (c *keyedClubs) fold(t *testing.T, store driver.Driver, window int, events ...[]ref) {
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
