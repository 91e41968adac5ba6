package registry

import (
	"fmt"
	"regexp"
	"strings"
)

// width is how far numbers of a version are padded: room for every date and build number met in the wild.
const width = 16

const (
	release    = "~" // closes the numbers of a version without pre-release
	preRelease = "-" // opens a pre-release; it sorts before release
)

// strict matches what https://semver.org calls a version, but for build metadata: of each there is one order.
var strict = regexp.MustCompile(`^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}(-` + preIdentifier + `(\.` + preIdentifier + `)*)?$`)

const preIdentifier = `(0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)`

// Order turns a version into text that sorts as versions do (https://semver.org, precedence): numbers by value, a
// pre-release before its release, numeric identifiers before words. Old versions that leave out the hyphen are read as
// if it were there: 3.0.0beta4. Build metadata takes no part. A version that is not strict follows at the end, so that
// two versions of equal precedence have orders of their own.
func Order(version string) string {
	plain, _, _ := strings.Cut(version, "+")
	numbers, pre := plain, ""
	if i := strings.IndexFunc(plain, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }); i >= 0 {
		numbers, pre = plain[:i], strings.TrimPrefix(plain[i:], "-")
	}
	order := identifiers(numbers, ".")
	if len(numbers) == len(plain) {
		order += release
	} else {
		order += preRelease + identifiers(pre, ",") // a comma sorts before all that an identifier may hold
	}
	if !strict.MatchString(version) {
		order += " " + version
	}
	return order
}

// identifiers makes each identifier of a dotted list sortable, and joins them with sep.
func identifiers(list, sep string) string {
	all := strings.Split(list, ".")
	for i, one := range all {
		all[i] = sortable(one)
	}
	return strings.Join(all, sep)
}

// sortable pads numbers, and sees to it that words come after them: those that begin like a number are led by a sign
// between digits and letters.
func sortable(identifier string) string {
	switch {
	case identifier == "":
		return ""
	case strings.Trim(identifier, "0123456789") != "":
		if identifier[0] < 'A' {
			return ";" + identifier
		}
		return identifier
	case len(identifier) > width: // the longer number is the greater one
		return fmt.Sprintf(":%04d%s", len(identifier), identifier)
	}
	return strings.Repeat("0", width-len(identifier)) + identifier
}

// later reports whether order a is a better "latest" than b: a release beats every pre-release, else the higher wins.
func later(a, b string) bool {
	if ra, rb := isRelease(a), isRelease(b); ra != rb {
		return ra
	}
	return a > b
}

func isRelease(order string) bool {
	precedence, _, _ := strings.Cut(order, " ")
	return strings.HasSuffix(precedence, release)
}
