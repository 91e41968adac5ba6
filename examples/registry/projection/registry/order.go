package registry

import "strings"

// width is how far numbers of a version are padded: room for every date and build number met in the wild.
const width = 16

// release closes the order of a version without pre-release; it sorts after "-", which opens one.
const release = "~"

// Order turns a semantic version into text that sorts as versions do (https://semver.org, precedence): numbers by
// value, a pre-release before its release, numeric identifiers before words. Build metadata takes no part. The version
// itself follows at the end, so that two versions of equal precedence have orders of their own.
func Order(version string) string {
	plain, _, _ := strings.Cut(version, "+")
	core, pre, isPre := strings.Cut(plain, "-")

	var b strings.Builder
	for i, number := range strings.Split(core, ".") {
		if i > 0 {
			b.WriteByte('.')
		}
		pad(&b, number)
	}
	if !isPre {
		b.WriteString(release)
	} else {
		b.WriteByte('-')
		for i, identifier := range strings.Split(pre, ".") {
			if i > 0 {
				b.WriteByte('.')
			}
			pad(&b, identifier)
		}
	}
	if plain != version {
		b.WriteString(" " + version)
	}
	return b.String()
}

// pad writes a number with leading zeros, a word as it is.
func pad(b *strings.Builder, identifier string) {
	if strings.Trim(identifier, "0123456789") == "" && len(identifier) < width {
		b.WriteString(strings.Repeat("0", width-len(identifier)))
	}
	b.WriteString(identifier)
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
