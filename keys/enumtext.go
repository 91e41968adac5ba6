package keys

import (
	"slices"
	"strings"
)

// enumCheck refuses text of a half that has a value which the enum of its field does not have. All else that could be
// wrong with the text has been looked at before.
type enumCheck struct {
	layout *Layout
	enums  [][]string // as Composer.Enums
}

func (c *Composer) enumCheck() enumCheck { return enumCheck{&c.Layout, c.Enums} }

// CheckEnum refuses a value of the n-th field, which an argument gives, that the enum of the field does not have. One
// that keys hold in a casing may be written in any.
func (c *Composer) CheckEnum(arg string, n int, v Value) error { return c.enumCheck().value(arg, n, v) }

// ParseCondition reads a condition on the n-th field as [Layout.ParseCondition] does.
func (c *Composer) ParseCondition(n int, where Condition) (Condition, error) {
	where, err := c.Layout.ParseCondition(n, where)
	if err == nil && c.Enums != nil {
		err = c.enumCheck().condition(n, &where)
	}
	return where, err
}

// key looks at the text of the whole half.
func (e enumCheck) key(arg, text string) error {
	return e.operand(operandText{layout: *e.layout, arg: arg, text: text})
}

// operands looks at the text of arguments. A bound may end with a separator: it is before all that go on so.
func (e enumCheck) operands(o Operands, given []Value) error {
	for _, operand := range []struct {
		arg  string
		text *string
	}{{OperandEq, o.Eq}, {OperandFrom, o.From}, {OperandTo, o.To}} {
		if operand.text == nil {
			continue
		}
		if err := e.operand(operandText{*e.layout, given, operand.arg, *operand.text}); err != nil {
			return err
		}
	}
	if o.Prefix == nil {
		return nil
	}
	return e.prefix(operandText{*e.layout, given, OperandPrefix, *o.Prefix})
}

func (e enumCheck) operand(o operandText) error {
	vals, _, err := o.values()
	if err != nil {
		return err
	}
	bound := o.arg == OperandFrom || o.arg == OperandTo
	if n := len(vals); bound && n > len(o.given)+1 && vals[n-1].Present() && vals[n-1].text == "" {
		vals = vals[:n-1]
	}
	return e.values(o.arg, vals, len(o.given))
}

func (e enumCheck) prefix(o operandText) error {
	vals, beginning, err := o.prefix()
	if err == nil {
		err = e.values(o.arg, vals, len(o.given))
	}
	if err == nil && beginning != nil {
		err = e.beginning(len(vals), *beginning)
	}
	return err
}

func (e enumCheck) condition(n int, where *Condition) error {
	if where.Prefix != nil {
		return e.beginning(n, *where.Prefix)
	}
	for _, given := range []struct {
		arg   string
		value Value
	}{{OperandEq, where.Eq}, {OperandFrom, where.From}, {OperandTo, where.To}} {
		if err := e.value(given.arg, n, given.value); err != nil {
			return err
		}
	}
	return nil
}

// values looks at those of the half from the n-th on.
func (e enumCheck) values(arg string, vals []Value, n int) error {
	for i := n; i < len(vals); i++ {
		if err := e.value(arg, i, vals[i]); err != nil {
			return err
		}
	}
	return nil
}

func (e enumCheck) value(arg string, n int, v Value) error {
	enum, casing := e.of(n), e.layout.Casing
	has := func(value string) bool { return casing.Apply(value) == casing.Apply(v.text) }
	if enum == nil || !v.Present() || slices.ContainsFunc(enum, has) {
		return nil
	}
	return wrongOperand(arg, "%.40q is no value of %s: give one of %s", v.text, e.layout.Segments[n].Field,
		strings.Join(enum, ", "))
}

// beginning looks at that of a value of the n-th field.
func (e enumCheck) beginning(n int, text string) error {
	enum, casing := e.of(n), e.layout.Casing
	begins := func(value string) bool { return strings.HasPrefix(casing.Apply(value), casing.Apply(text)) }
	if enum == nil || slices.ContainsFunc(enum, begins) {
		return nil
	}
	return wrongOperand(OperandPrefix, "no value of %s begins with %.40q: they are %s", e.layout.Segments[n].Field, text,
		strings.Join(enum, ", "))
}

// of is the values of the enum of the n-th field, nil for a field of none.
func (e enumCheck) of(n int) []string {
	if n >= len(e.enums) {
		return nil
	}
	return e.enums[n]
}
