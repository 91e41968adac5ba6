package compact

import (
	"bytes"
	"fmt"
	"regexp"
)

// gqlgen writes two functions for each field of an object, of one call each: one that returns its context, and one that
// writes it. Each is called by the function of the object in one place, and there its call is put: that of a value
// which is a Go field of the object, since what a method does is for the function that guards the field against panics.

// Functions that gqlgen writes for a field, with calls in place of closures.
var (
	contextOfField = regexp.MustCompile(`func fieldContext_(\w+)\(_ context\.Context, ec \*executionContext, ` +
		`field graphql\.CollectedField\) \(fc \*graphql\.FieldContext, err error\) \{\n` +
		`\t(?:return (fieldexec\.ScalarContext\(field, "(\w+)", [^\n]+\))|` +
		`fc = (fieldexec\.ObjectContext\(ec, field, "(\w+)", [^\n]+\))\n\treturn fc, nil)\n\}\n\n?`)
	valueOfField = regexp.MustCompile(`func (_\w+)\(ctx context\.Context, ec \*executionContext, ` +
		`field graphql\.CollectedField, obj [^\n]+\) \(ret graphql\.Marshaler\) \{\n` +
		`\treturn fieldexec\.Resolve\(ctx, ec\.OperationContext, ec, field, (\w+), ` +
		`func\(ctx context\.Context\) \(any, error\) \{ return (obj\.\w+), nil \}, ([\pL\pN_]+), true, (true|false)\)\n\}\n\n?`)
)

// Calls of these functions, and the functions of objects that find the contexts of their fields.
var (
	callOfContext = regexp.MustCompile(`\t\treturn fieldContext_(\w+)\(ctx, ec, field\)\n`)
	useOfContext  = regexp.MustCompile(`ctx, ec\.OperationContext, ec, field, fieldContext_(\w+),`)
	callOfValue   = regexp.MustCompile(`\t\t\tout\.Values\[i\] = (_\w+)\(ctx, ec, field, obj\)
\t\t\tif out\.Values\[i\] == graphql\.(\w+) \{
\t\t\t\t(?:atomic\.AddUint32\(&out\.Invalids, 1\)|out\.Invalids\+\+)
\t\t\t\}
`)
	contextsOfField = regexp.MustCompile(`\nfunc childFields_(\w+)\(`)
)

// inPlace puts the calls in the place of the functions. A function that was the last of a part takes the empty line
// away that Go's format has after the one before it.
func inPlace(code []byte) []byte {
	return bytes.ReplaceAll(valuesInPlace(contextsInPlace(code)), []byte("}\n// "), []byte("}\n\n// "))
}

// contextsInPlace has each field ask the object that it is of for its context.
func contextsInPlace(code []byte) []byte {
	objects := map[string]bool{}
	for _, found := range contextsOfField.FindAllSubmatch(code, -1) {
		objects[string(found[1])] = true
	}
	type context struct{ object, call string }
	contexts := map[string]context{}
	for _, found := range contextOfField.FindAllSubmatch(code, -1) {
		c := context{string(found[3]), string(found[2])}
		if c.call == "" {
			c = context{string(found[5]), string(found[4]) + ", nil"}
		}
		if objects[c.object] {
			contexts[string(found[1])] = c
		}
	}
	code = useOfContext.ReplaceAllFunc(code, func(use []byte) []byte {
		c, known := contexts[string(useOfContext.FindSubmatch(use)[1])]
		if !known {
			return use
		}
		return []byte("ctx, ec.OperationContext, ec, field, childFields_" + c.object + ",")
	})
	code = callOfContext.ReplaceAllFunc(code, func(call []byte) []byte {
		c, known := contexts[string(callOfContext.FindSubmatch(call)[1])]
		if !known {
			return call
		}
		return []byte("\t\treturn " + c.call + "\n")
	})
	return without(code, contextOfField, func(name string) bool {
		_, known := contexts[name]
		return known && !bytes.Contains(code, []byte("fieldContext_"+name+",")) // called by nothing that is unknown
	})
}

// valuesInPlace writes each field in the function of its object.
func valuesInPlace(code []byte) []byte {
	type value struct{ call, failed string }
	values := map[string]value{}
	for _, found := range valueOfField.FindAllSubmatch(code, -1) {
		values[string(found[1])] = value{
			call: fmt.Sprintf("\t\t\tfieldexec.Value(ctx, ec.OperationContext, ec, fields, out, i, %s, %s, %s, %s)\n",
				found[2], found[3], found[4], found[5]),
			failed: map[string]string{"true": "Null", "false": "RequiredNull"}[string(found[5])],
		}
	}
	put := map[string]bool{}
	code = callOfValue.ReplaceAllFunc(code, func(call []byte) []byte {
		found := callOfValue.FindSubmatch(call)
		name := string(found[1])
		if v, known := values[name]; known && v.failed == string(found[2]) {
			put[name] = true
			return []byte(v.call)
		}
		return call
	})
	return without(code, valueOfField, func(name string) bool {
		return put[name] && !bytes.Contains(code, []byte(name+"(ctx, ec, field, obj)"))
	})
}

// without leaves the functions out that a pattern finds.
func without(code []byte, function *regexp.Regexp, out func(name string) bool) []byte {
	return function.ReplaceAllFunc(code, func(text []byte) []byte {
		if out(string(function.FindSubmatch(text)[1])) {
			return nil
		}
		return text
	})
}
