package entity

import (
	"cmp"
	"errors"
	"slices"
	"strconv"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/foldql/foldql/keys"
	"github.com/vektah/gqlparser/v2/ast"
)

// readTemplates reads @keys.
func (d *entityReader) readTemplates(dir *ast.Directive) {
	casing := d.Entity.Table.TemplateCasing
	d.PK = d.template(dir, "pk", casing)
	d.SK = d.template(dir, "sk", casing)
	for _, o := range sdl.Objects(dir, "gsis") {
		x := d.newEntityIndex(o, casing)
		if x == nil {
			continue
		}
		x.PK = d.template(o, "pk", x.Casing)
		x.SK = d.template(o, "sk", x.Casing)
		d.addEntityIndex(x, o)
	}
}

const (
	mostTemplate = 1024 // bytes; a sort key has no more
	mostPad      = 38   // digits of a number
)

// template reads a half of a key that is written as a template; the half does not exist where the argument is left out.
func (d *entityReader) template(dir *ast.Directive, half, casing string) schema.Half {
	text, given := sdl.Text(dir, half)
	if !given {
		return schema.Half{}
	}
	h := schema.Half{Template: text}
	wrong := func(template, problem string) {
		d.Report(rule.TemplateForm, sdl.ArgumentPosition(dir, half), nil, strconv.Quote(template), problem)
	}
	if len(text) > mostTemplate {
		wrong(text[:32]+"…", "is longer than any key")
		return h
	}
	parts, err := keys.ParseTemplate(text)
	if problems := (*keys.TemplateError)(nil); errors.As(err, &problems) {
		for _, problem := range problems.Problems {
			wrong(text, problem)
		}
	}
	var sound keys.Template
	for _, part := range parts {
		if part.Field != "" {
			f := d.compositeField(dir, half, part.Field)
			switch {
			case f == nil:
				continue
			case slices.Contains(h.Fields, f):
				wrong(text, "holds "+part.String()+" twice")
				continue
			}
			part.Padded = d.soundPad(dir, half, f, part)
			h.Fields = append(h.Fields, f)
		}
		sound = append(sound, part)
	}
	kind := func(field string) keys.Kind { // that of strings where the type of the field is reported as wrong
		return cmp.Or(d.Field(field).Kind(), keys.KindString)
	}
	if h.Layout, err = sound.Layout(schema.Casings[casing], kind); err != nil {
		wrong(text, "cannot be a key: "+err.Error())
	}
	h.Layout.Escape = d.Entity.Table.KeyEscape()
	return h
}

// soundPad reports whether a field of a template is padded, and what is wrong with that.
func (d *entityReader) soundPad(dir *ast.Directive, half string, f *schema.Field, part keys.TemplatePart) bool {
	number := schema.IsNumber(f.Scalar)
	switch {
	case !part.Padded && number && half == "sk":
		d.Report(rule.NumberUnpadded, sdl.ArgumentPosition(dir, half), f, f.Name)
	case !part.Padded:
	case !number && f.Known():
		d.Report(rule.PadOfNoNumber, sdl.ArgumentPosition(dir, half), f, f.Name, schema.TypeText(f))
	case part.Digits < 1 || part.Digits > mostPad:
		d.Report(rule.PadRange, sdl.ArgumentPosition(dir, half), f, f.Name, strconv.Itoa(part.Digits), strconv.Itoa(mostPad))
	default:
		return number
	}
	return false
}
