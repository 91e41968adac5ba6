package readmodel

import (
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/vektah/gqlparser/v2/ast"
)

// seriesReader reads which read model is a time series, and what is appended to its rows.
type seriesReader struct {
	*draft.Model
	dir   *ast.Directive
	wrong bool
}

// ReadSeries reads the time series, and adds the model of the events of each behind its own. Keys, writers and owners
// are known.
func ReadSeries(p *draft.Project) {
	for _, d := range slices.Clone(p.ReadModels) {
		if dir := d.Def.Directives.ForName("timeSeries"); dir != nil && d.Aggregate == nil {
			(&seriesReader{Model: d, dir: dir}).read()
		}
	}
}

func (d *seriesReader) read() {
	s := &schema.Series{Pos: sdl.Position(d.dir.Position)}
	d.Series = s
	if len(d.PK.Fields) == 0 && d.Entity == nil {
		d.refuse(rule.SeriesSingleton, s.Pos, nil)
	}
	orderBy, _ := sdl.Text(d.dir, "orderBy")
	if s.OrderBy = d.fieldOf("orderBy", orderBy); s.OrderBy != nil {
		d.checkOrder(s.OrderBy)
	}
	for _, name := range sdl.List(d.dir, "append") {
		f := d.fieldOf("append", name)
		switch {
		case f == nil:
		case f == s.OrderBy || slices.Contains(s.Append, f):
			d.refuse(rule.SeriesTwice, d.pos("append"), f)
		default:
			s.Append = append(s.Append, f)
		}
	}
	slices.SortFunc(s.Append, func(a, b *schema.Field) int { return a.Ordinal - b.Ordinal })
	d.readKeep()
	if s.OrderBy != nil {
		d.readWriter()
	}
	if !d.wrong {
		d.checkOwner()
	}
	if !d.wrong {
		d.addHistory()
	}
}

func (d *seriesReader) refuse(r *rule.Rule, pos schema.Pos, f *schema.Field, args ...string) {
	d.wrong = true
	d.Report(r, pos, f, args...)
}

func (d *seriesReader) pos(argument string) schema.Pos { return sdl.ArgumentPosition(d.dir, argument) }

// fieldOf finds a field that an argument names, nil where it is reported as none that events can bring.
func (d *seriesReader) fieldOf(argument, name string) *schema.Field {
	f, pos := d.Field(name), d.pos(argument)
	switch {
	case f == nil:
		d.refuse(rule.SeriesUnknown, pos, nil, argument, name)
	case f.IsCopy():
		d.refuse(rule.SeriesCopy, pos, f, d.Reference(f).ID.Name)
	case slices.Contains(schema.Composites(d.PK, d.SK), f):
		d.refuse(rule.SeriesKey, pos, f)
	case f == d.CreatedAt:
		d.refuse(rule.SeriesStamp, pos, f, "createdAt")
	case f == d.UpdatedAt:
		d.refuse(rule.SeriesStamp, pos, f, "updatedAt")
	default:
		d.wrong = d.wrong || !f.Known() // which is reported
		return f
	}
	return nil
}

// checkOrder refuses a field whose values are in no order of time.
func (d *seriesReader) checkOrder(f *schema.Field) {
	pos := d.pos("orderBy")
	ordered := f.Scalar == "DateTime" || f.Scalar == "Date" || schema.IsNumber(f.Scalar)
	switch {
	case f.List:
		d.refuse(rule.SeriesOrder, pos, f, "a list")
	case f.Known() && !ordered:
		d.refuse(rule.SeriesOrder, pos, f, "of type "+schema.TypeText(f))
	case f.Nullable && len(d.Writers) == 1:
		d.refuse(rule.SeriesOrderNull, pos, f, schema.TypeText(f))
	}
	if d.AuthOf(f) != nil {
		d.refuse(rule.SeriesOrderGuard, pos, f)
	}
}

func (d *seriesReader) readKeep() {
	text, given := sdl.Text(d.dir, "keep")
	if !given {
		d.wrong = d.wrong || d.dir.Arguments.ForName("keep") != nil
		return
	}
	var ok bool
	if d.Series.Keep, ok = parseDuration(text); !ok {
		d.refuse(rule.SeriesKeep, d.pos("keep"), nil, "\""+text+"\"")
	}
}

// readWriter finds the projector that appends, which writes all that is appended.
func (d *seriesReader) readWriter() {
	s := d.Series
	if s.Writer = d.writerOf(s.OrderBy); s.Writer == nil {
		d.wrong = true // the field is reported as written by nobody
		return
	}
	for _, f := range s.Append {
		if w := d.writerOf(f); w != nil && w != s.Writer {
			d.refuse(rule.SeriesWriters, d.pos("append"), f, w.Projector, s.OrderBy.Name, s.Writer.Projector)
		}
	}
}

func (d *seriesReader) writerOf(f *schema.Field) *schema.Writer {
	i := slices.IndexFunc(d.Writers, func(w *schema.Writer) bool { return slices.Contains(w.Writes, f) })
	if i < 0 {
		return nil
	}
	return d.Writers[i]
}

// checkOwner refuses rules by which somebody may read rows, and could not be told to be the owner of their events.
func (d *seriesReader) checkOwner() {
	held := append(schema.Composites(d.PK, d.SK), d.Series.Appended()...)
	if dir := d.Def.Directives.ForName("auth"); dir != nil && sdl.Flag(dir, "owner") && d.Owner != nil {
		switch {
		case !slices.Contains(held, d.Owner):
			d.refuse(rule.SeriesOwner, d.Series.Pos, nil, "the type", d.Owner.Name)
		case len(sdl.List(dir, "groups")) == 0 && !(&guardChecker{d.Model}).ownerIn(d.PK):
			d.refuse(rule.SeriesOwnerRange, d.Series.Pos, nil, d.Owner.Name)
		}
	}
	for _, f := range d.Series.Append {
		if a := d.AuthOf(f); a != nil && a.Owner && d.Owner != nil && !slices.Contains(held, d.Owner) {
			d.refuse(rule.SeriesOwner, d.pos("append"), f, f.Name, d.Owner.Name)
		}
	}
}

// addHistory adds the model of the events, which has the rules of the series: those of the type and of each field.
func (d *seriesReader) addHistory() {
	p, s := d.Project, d.Series
	s.History = schema.NewHistory(d.ReadModel)
	table := s.History.Table
	switch other := p.ByTable(table); {
	case d.Entity != nil:
	case other != nil:
		d.Report(rule.TableTaken, s.Pos, nil, table, other.Name)
		return
	case !draft.TablePattern.MatchString(table):
		d.Report(rule.TableName, s.Pos, nil, strconv.Quote(table))
		return
	}
	h := &draft.Model{
		ReadModel: s.History, Project: p, Marks: d.Marks,
		Def:      &ast.Definition{Name: s.History.Name, Position: d.dir.Position, Directives: only(d.Def.Directives, "auth")},
		Sources:  map[*schema.Field]*ast.FieldDefinition{},
		Settings: map[*schema.Index]map[string]draft.Marked{},
	}
	for _, f := range h.Fields {
		h.Sources[f] = &ast.FieldDefinition{Name: f.Name, Position: d.dir.Position}
		if of := d.Field(f.Name); of != nil && !f.Hidden {
			h.Sources[f].Directives = only(d.Sources[of].Directives, "auth")
		}
	}
	if h.Entity != nil && p.SharedTable(h.Entity.Table.Name) != nil {
		h.Entity.Table.Entities = append(h.Entity.Table.Entities, h.ReadModel)
	}
	p.ReadModels = slices.Insert(p.ReadModels, slices.Index(p.ReadModels, d.Model)+1, h)
	p.Model.ReadModels = slices.Insert(p.Model.ReadModels, slices.Index(p.Model.ReadModels, d.ReadModel)+1, h.ReadModel)
}

func only(all ast.DirectiveList, name string) ast.DirectiveList {
	return slices.DeleteFunc(slices.Clone(all), func(d *ast.Directive) bool { return d.Name != name })
}

var durationPattern = regexp.MustCompile(
	`^P(?:([0-9]+)W)?(?:([0-9]+)D)?(?:T(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+)S)?)?$`)

const day = 24 * time.Hour

// maxDuration is the longest that is read.
const maxDuration = 36_525 * day

// parseDuration reads a duration of ISO 8601 that is as long at any time: one of weeks, days, hours, minutes and
// seconds. ok is false where it is none, or is not positive.
func parseDuration(text string) (sum time.Duration, ok bool) {
	parts := durationPattern.FindStringSubmatch(text)
	if parts == nil || text[len(text)-1] == 'T' {
		return 0, false
	}
	for i, unit := range []time.Duration{7 * day, day, time.Hour, time.Minute, time.Second} {
		if parts[i+1] == "" {
			continue
		}
		n, err := strconv.ParseInt(parts[i+1], 10, 64)
		if err != nil || n > int64(maxDuration/unit) {
			return 0, false
		}
		sum += time.Duration(n) * unit
	}
	return sum, 0 < sum && sum <= maxDuration
}
