package querydb

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/internal/former"
	"github.com/foldql/foldql/querydb/internal/generation"
	"github.com/foldql/foldql/querydb/internal/validate"
)

// Layout is the description of the rows of a model in one generation of its table, as it was when they were written:
// fields, keys and indexes. A program with another schema reads such rows by it. See Generations.Serve.
type Layout struct {
	model *Model // nil where the generation has no rows of the model
}

// Layout describes the rows that a program with this model writes.
func (m *Model) Layout() *Layout { return &Layout{m} }

// NoRows is the Layout of a generation that has no rows of a model, as where none has been begun.
func NoRows() *Layout { return &Layout{} }

// HasRows reports whether the generation has rows of the model at all.
func (l *Layout) HasRows() bool { return l.model != nil }

// Table is the name of the table that the rows are in; "" where there are none.
func (l *Layout) Table() string {
	if l.model == nil {
		return ""
	}
	return l.model.Table
}

// Equal reports whether both describe the same rows.
func (l *Layout) Equal(other *Layout) bool {
	if l.model == nil || other.model == nil {
		return l.model == other.model
	}
	return l.model == other.model || bytes.Equal(l.rowsText(), other.rowsText())
}

// EnumValues are the values that fields of rows may have whose type is an enum, by the path of the field: "status",
// "address.country".
func (m *Model) EnumValues() map[string][]string {
	all := map[string][]string{}
	m.eachEnum("", m.Fields, func(path string, values []string) { all[path] = values })
	return all
}

// EnumValues is [Model.EnumValues] of the rows that the layout describes.
func (l *Layout) EnumValues() map[string][]string {
	if l.model == nil {
		return nil
	}
	return l.model.EnumValues()
}

func (m *Model) eachEnum(prefix string, fields []driver.Field, visit func(path string, values []string)) {
	for i := range fields {
		f := &fields[i]
		m.eachEnum(prefix+f.Name+".", f.Object, visit)
		at := slices.IndexFunc(m.Enums, func(e Enum) bool { return e.Name == f.Enum })
		if at >= 0 {
			visit(prefix+f.Name, m.Enums[at].Values)
		}
	}
}

// Covers reports whether all that rows of the model may be is what the layout says of them: of rows of one Version,
// those of a model whose enums have got values since are more.
func (l *Layout) Covers(m *Model) bool {
	return l.model != nil && former.Compile(schemaOf(l.model), schemaOf(m)) == nil
}

// Reindexed reports whether rows of the layout differ from those of the model in their index keys alone, and these can
// be made of the rows. For each index of the model, former has the ordinal of the one that the layout says the same of:
// its keys are those that the rows have. It is -1 for one that is new, whose keys follow from what the rows hold: none
// of its composites may be null, since the key of a half that a patch cannot compose hangs on what it was before. Rows
// that may have a value which an enum of the model does not have are no such rows.
func (l *Layout) Reindexed(m *Model) (former []int, ok bool) {
	stored := l.model
	if stored == nil || stored.RowVersion == "" || stored.RowVersion != m.RowVersion || !m.Layout().Covers(stored) {
		return nil, false
	}
	for i := range m.Indexes {
		x := &m.Indexes[i]
		at := slices.IndexFunc(stored.Indexes, func(was Index) bool { return bytes.Equal(was.keyText(), x.keyText()) })
		if at < 0 && (x.Unique || !m.composes(&x.PK) || !m.composes(&x.SK)) {
			return nil, false
		}
		former = append(former, at)
	}
	return former, true
}

// keyText is what the keys of an index hang on.
func (x *Index) keyText() []byte {
	text, err := json.Marshal([]Half{x.PK, x.SK})
	if err != nil {
		panic(err) // as in rowsText
	}
	return text
}

// composes reports whether every row has all composites of the half.
func (m *Model) composes(h *Half) bool {
	return !slices.ContainsFunc(h.Fields, func(f int) bool { return m.Fields[f].Nullable })
}

// rowsText is what the model says of stored rows, without what it says of the API and of the fold.
func (l *Layout) rowsText() []byte {
	rows := *l.model
	rows.Name, rows.Plugin, rows.Version, rows.RowVersion = "", "", "", ""
	rows.Atomic, rows.HistoryOf = false, ""
	rows.CreatedAt, rows.UpdatedAt = 0, 0
	text, err := json.Marshal(&rows)
	if err != nil {
		panic(err) // a model is text, numbers and lists of them
	}
	return text
}

// layoutForm is the form of a stored layout, of which a program reads its own and earlier ones. A change of Model, or
// of what the numbers in it mean, is a new form.
const layoutForm = 1

// useWriter is what to do about a layout that a later version of the program has stored.
const useWriter = "use the version of the program that wrote them, or a later one"

// storedLayout is a layout as a note holds it.
type storedLayout struct {
	Form  int    `json:"form"`
	Model *Model `json:"model"`
}

func (l *Layout) format() []byte {
	text, err := json.Marshal(storedLayout{layoutForm, l.model})
	if err != nil {
		panic(err) // as in rowsText
	}
	return text
}

func parseLayout(text []byte) (*Layout, error) {
	var form struct {
		Form int `json:"form"`
	}
	if err := json.Unmarshal(text, &form); err != nil {
		return nil, fmt.Errorf("%w: the description of the rows: %w", ErrDamaged, err)
	}
	if form.Form > layoutForm {
		return nil, fmt.Errorf("%w: the rows are described in the form %d, and this program reads forms up to %d: %s",
			ErrInvalid, form.Form, layoutForm, useWriter)
	}
	var stored storedLayout
	if err := json.Unmarshal(text, &stored); err != nil {
		return nil, fmt.Errorf("%w: the description of the rows: %w", ErrDamaged, err)
	}
	known := json.NewDecoder(bytes.NewReader(text))
	known.DisallowUnknownFields()
	if err := known.Decode(&storedLayout{}); err != nil {
		return nil, fmt.Errorf("%w: the description of the rows says what this program does not know: %w: %s",
			ErrInvalid, err, useWriter)
	}
	if form.Form < 1 || stored.Model == nil {
		return nil, fmt.Errorf("%w: the description of the rows says nothing of them", ErrDamaged)
	}
	l := &Layout{stored.Model}
	if err := l.check(); err != nil {
		return nil, fmt.Errorf("the description of the rows: %w", err)
	}
	return l, nil
}

// check refuses what no generated model is.
func (l *Layout) check() error {
	m := l.model
	of := len(m.Fields)
	errs := []error{
		validate.Fields(m.Fields),
		validate.Half("the partition key", &m.PK.Layout, m.PK.Fields, of),
		validate.Half("the sort key", &m.SK.Layout, m.SK.Fields, of),
	}
	for _, x := range m.Indexes {
		errs = append(errs,
			validate.Half("the index "+x.Name, &x.PK.Layout, x.PK.Fields, of),
			validate.Half("the index "+x.Name, &x.SK.Layout, x.SK.Fields, of),
			validate.Ordinals("the index "+x.Name, of, x.Projected...))
	}
	for _, f := range [...]int{m.TTL, m.CreatedAt, m.UpdatedAt} {
		if f != -1 {
			errs = append(errs, validate.Ordinals("an annotation", of, f))
		}
	}
	for _, w := range m.Writers {
		errs = append(errs, validate.Ordinals("the writer "+w.Name, of, w.Part.Fields...))
	}
	errs = append(errs, l.checkTable())
	i := slices.IndexFunc(errs, func(err error) bool { return err != nil })
	if i < 0 {
		return nil
	}
	return errs[i]
}

// checkTable refuses a place in a table that there is not.
func (l *Layout) checkTable() error {
	m := l.model
	switch {
	case m.Table == "":
		return fmt.Errorf("%w: the table has no name", ErrDamaged)
	case m.Entity == nil && m.Aggregate == nil:
		return nil
	case m.Entity == nil:
		return fmt.Errorf("%w: an aggregate has no table of entities", ErrDamaged)
	case m.Entity.Table == nil || m.Entity.Kind == "" || len(m.Entity.PhysicalIndexes) != len(m.Indexes):
		return fmt.Errorf("%w: an entity has no kind, or no place in its table", ErrDamaged)
	}
	physical := len(m.Entity.Table.Indexes)
	if err := validate.Ordinals("an entity", physical, m.Entity.PhysicalIndexes...); err != nil || m.Aggregate == nil {
		return err
	}
	if err := m.Aggregate.Check(len(m.Fields), physical); err != nil {
		return err
	}
	inRoot := slices.Concat(m.PK.Fields, m.SK.Fields)
	for _, x := range m.Indexes {
		inRoot = slices.Concat(inRoot, x.PK.Fields, x.SK.Fields)
	}
	return validate.Ordinals("a key of an aggregate", len(m.Fields), m.Aggregate.InRoot(inRoot)...)
}

// LayoutNote is the note that keeps the layout of the model's rows in a generation of its table. It belongs into the
// commit that begins the generation: see Begin.
func (m *Model) LayoutNote(generationNumber int) Note {
	return Note{Kind: generation.KindLayout, ID: layoutID(m, generationNumber, m.Entity != nil),
		Value: m.Layout().format()}
}

func layoutID(m *Model, number int, shared bool) string {
	return generation.LayoutID(&driver.Table{Name: m.Table, Generation: number}, m.Name, shared)
}

// SaveLayout records the layout of the model's rows in a generation of its table: that of this program's models.
func (g *Generations) SaveLayout(ctx context.Context, m *Model, generation int) error {
	if err := g.notes.write(ctx, m.LayoutNote(generation)); err != nil {
		return &Error{Op: "describe the rows of", Model: m.Name, Err: err}
	}
	return nil
}

// Layout returns the layout of the model's rows in a generation of its table, nil where none is on record: the
// generation was begun by an earlier version of the program. Where the layouts of other models in the table are on
// record, and the model's is not, the generation has no rows of the model, as the layout then says.
func (g *Generations) Layout(ctx context.Context, m *Model, generation int) (*Layout, error) {
	all, err := layouts(ctx, g.notes, []*Model{m}, []int{generation})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

func layouts(ctx context.Context, from *Notes, models []*Model, generations []int) ([]*Layout, error) {
	both := make([]keys.Key, 0, 2*len(models))
	for i, m := range models {
		shared := m.Entity != nil
		both = append(both, keys.Key{PK: generation.KindLayout, SK: layoutID(m, generations[i], shared)},
			keys.Key{PK: generation.KindLayout, SK: layoutID(m, generations[i], !shared)})
	}
	notes, err := from.GetAll(ctx, both)
	all := make([]*Layout, len(models))
	for i, m := range models {
		if err == nil {
			all[i], err = layoutOf(ctx, from, m, generations[i], notes[2*i:2*i+2])
		}
		if err != nil {
			return nil, &Error{Op: "read the description of the rows of", Model: m.Name, Err: err}
		}
	}
	return all, nil
}

// layoutOf is what the notes say of the rows of the model in a generation of its table; where they are not there, what
// notes about other models of the table do.
func layoutOf(ctx context.Context, from *Notes, m *Model, number int, notes []Note) (*Layout, error) {
	for _, n := range notes {
		if n.Value == nil {
			continue
		}
		l, err := parseLayout(n.Value)
		if err == nil && m.Entity != nil && l.model.Entity == nil && l.model.Name != m.Name {
			return NoRows(), nil // the table was another model's own
		}
		return l, err
	}
	t := &driver.Table{Name: m.Table, Generation: number}
	others, err := from.List(ctx, generation.KindLayout, generation.LayoutID(t, "", true), 1)
	if err != nil || len(others) == 0 || !generation.IsLayoutOf(t, others[0].ID) {
		return nil, err
	}
	return NoRows(), nil
}

// FormerTable looks whether rows of a model are still there that a generation of another table holds, which the model
// had before: that generation serves, or is kept as the former one. It returns how the rows are laid out, and which
// table the store has for them; nil where there are none, or that is not on record.
func FormerTable(ctx context.Context, db *DB, m *Model, table string, generation int) (*Layout, Identity, error) {
	layout, is, err := formerTable(ctx, db, &Model{Name: m.Name, Table: table, Entity: m.Entity}, generation)
	if err != nil {
		return nil, Identity{}, &Error{Op: "find the former table of", Model: m.Name, Err: err}
	}
	return layout, is, nil
}

func formerTable(ctx context.Context, db *DB, m *Model, generation int) (*Layout, Identity, error) {
	at, err := db.Notes().generation(ctx, m.Table)
	if err != nil || !(at.Begun && at.Number == generation) && !at.keeps(generation) {
		return nil, Identity{}, err
	}
	all, err := layouts(ctx, db.Notes(), []*Model{m}, []int{generation})
	if err != nil || all[0] == nil || !all[0].HasRows() {
		return nil, Identity{}, err
	}
	are, err := db.Tables().Identify(ctx, []*Model{all[0].model}, []int{generation})
	if err != nil {
		return nil, Identity{}, err
	}
	return all[0], are[0], nil
}

// Whose says of which models rows in a generation of a model's table are, as far as their layouts are on record.
type Whose uint8

// Whose rows there are.
const (
	WhoseNone   Whose = iota // none of the model, nor of models that have another table by now
	WhoseModel               // of the model, maybe under the name that it had before
	WhoseOthers              // none of the model, and some of others of the DB, which had the table before
)

// WhoseRows says, aligned with models, whose rows are in the generations of their tables.
func WhoseRows(ctx context.Context, db *DB, models []*Model, generations []int) ([]Whose, error) {
	all, err := layouts(ctx, db.Notes(), models, generations)
	if err != nil {
		return nil, err
	}
	whose := make([]Whose, len(models))
	for i, l := range all {
		switch m := models[i]; {
		case l == nil:
		case l.HasRows() && db.tables.hadTable(l.model.Name, m):
			whose[i] = WhoseOthers
		case l.HasRows():
			whose[i] = WhoseModel
		default:
			if whose[i], err = whoseOfShared(ctx, db, m, generations[i]); err != nil {
				return nil, &Error{Op: "find out whose rows are in the table of", Model: m.Name, Err: err}
			}
		}
	}
	return whose, nil
}

// whoseOfShared is WhoseRows of a table that models share, of which the model has no rows.
func whoseOfShared(ctx context.Context, db *DB, m *Model, number int) (Whose, error) {
	t := &driver.Table{Name: m.Table, Generation: number}
	for after := generation.LayoutID(t, "", true); ; {
		notes, err := db.Notes().List(ctx, generation.KindLayout, after, 100)
		if err != nil || len(notes) == 0 {
			return WhoseNone, err
		}
		for _, n := range notes {
			if after = n.ID; !generation.IsLayoutOf(t, n.ID) {
				return WhoseNone, nil
			}
			l, err := parseLayout(n.Value)
			if err != nil {
				return WhoseNone, err
			}
			if db.tables.hadTable(l.model.Name, m) {
				return WhoseOthers, nil
			}
		}
	}
}
