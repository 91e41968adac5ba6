package main

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"example.com/registry/model"
)

// expectation is what the rows must be, computed from the lines of the file by other means than the projectors: nothing
// here is incremental, and versions are compared, not made into text. Fields that hold that text are left empty.
type expectation struct {
	events     int
	packages   map[string]model.Package
	versions   map[string][]model.Version   // by package, the highest last
	dependents map[string][]model.Dependent // by dependency, by the name of the dependent
	names      []string                     // every name that an event mentions, sorted
	licenses   []string                     // every licence, sorted
}

// line is an event of the file.
type line struct {
	Type string
	Data struct {
		Package, Version, License, Reason string
		CreatedAt, PublishedAt            time.Time
		Dependencies                      []string
		NodeEngine                        *string
	}
}

func expect(file string) (expectation, error) {
	lines, err := readLines(file)
	if err != nil {
		return expectation{}, fmt.Errorf("read %s: %w", file, err)
	}
	x := expectation{events: len(lines), dependents: expectDependents(lines)}
	if x.versions, err = expectVersions(lines); err != nil {
		return expectation{}, fmt.Errorf("understand %s: %w", file, err)
	}
	x.packages = expectPackages(lines, x.versions)
	names, licenses := map[string]bool{}, map[string]bool{}
	for _, l := range lines {
		names[l.Data.Package] = true
		for _, d := range l.Data.Dependencies {
			names[d] = true
		}
		if l.Type == "VersionPublished" {
			licenses[l.Data.License] = true
		}
	}
	x.names, x.licenses = sorted(names), sorted(licenses)
	return x, nil
}

func readLines(file string) (lines []line, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	text, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	scan := bufio.NewScanner(text)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		var l line
		if err := json.Unmarshal(scan.Bytes(), &l); err != nil {
			return nil, err
		}
		l.Data.CreatedAt, l.Data.PublishedAt = l.Data.CreatedAt.UTC(), l.Data.PublishedAt.UTC()
		lines = append(lines, l)
	}
	return lines, scan.Err()
}

func expectVersions(lines []line) (map[string][]model.Version, error) {
	type id struct{ name, version string }
	rows := map[id]*model.Version{}
	for _, l := range lines {
		if l.Type == "PackageCreated" {
			continue
		}
		at := id{l.Data.Package, l.Data.Version}
		if rows[at] == nil {
			rows[at] = &model.Version{Package: at.name, Version: at.version}
		}
		if row := rows[at]; l.Type == "VersionDeprecated" {
			row.Deprecated = &l.Data.Reason
		} else {
			row.PublishedAt, row.License = &l.Data.PublishedAt, &l.Data.License
			row.NodeEngine, row.Dependencies = l.Data.NodeEngine, l.Data.Dependencies
		}
	}
	all := map[string][]model.Version{}
	for at, row := range rows {
		if !semver.IsValid(strict(at.version)) {
			return nil, fmt.Errorf("%q of %s is no version", at.version, at.name)
		}
		all[at.name] = append(all[at.name], *row)
	}
	for _, versions := range all {
		slices.SortFunc(versions, func(a, b model.Version) int { return compareVersions(a.Version, b.Version) })
	}
	return all, nil
}

func expectPackages(lines []line, versions map[string][]model.Version) map[string]model.Package {
	all := map[string]model.Package{}
	for name, those := range versions {
		row := model.Package{Name: name}
		var published []model.Version
		for _, v := range those {
			if v.PublishedAt != nil {
				published = append(published, v)
			}
			if v.Deprecated != nil {
				row.DeprecatedVersions = append(row.DeprecatedVersions, v.Version)
			}
		}
		if row.Releases = len(published); row.Releases > 0 {
			latest := slices.MaxFunc(published, func(a, b model.Version) int {
				ra, rb := semver.Prerelease(strict(a.Version)) == "", semver.Prerelease(strict(b.Version)) == ""
				if ra != rb && ra {
					return 1
				} else if ra != rb {
					return -1
				}
				return compareVersions(a.Version, b.Version)
			})
			row.LatestVersion, row.LatestAt, row.License = &latest.Version, latest.PublishedAt, latest.License
			row.Deprecated = latest.Deprecated != nil
		}
		all[name] = row
	}
	for _, l := range lines {
		if l.Type == "PackageCreated" {
			row := all[l.Data.Package]
			row.Name, row.CreatedAt = l.Data.Package, &l.Data.CreatedAt
			all[row.Name] = row
		}
	}
	return all
}

func expectDependents(lines []line) map[string][]model.Dependent {
	type id struct{ dependency, dependent string }
	naming := map[id][]line{}
	for _, l := range lines {
		for _, d := range l.Data.Dependencies {
			naming[id{d, l.Data.Package}] = append(naming[id{d, l.Data.Package}], l)
		}
	}
	all := map[string][]model.Dependent{}
	for at, those := range naming {
		slices.SortFunc(those, func(a, b line) int {
			return cmp.Or(a.Data.PublishedAt.Compare(b.Data.PublishedAt), compareVersions(a.Data.Version, b.Data.Version))
		})
		last := those[len(those)-1].Data
		all[at.dependency] = append(all[at.dependency], model.Dependent{
			Dependency: at.dependency, Dependent: at.dependent,
			Since: those[0].Data.PublishedAt, Version: last.Version, PublishedAt: last.PublishedAt,
		})
	}
	for _, those := range all {
		slices.SortFunc(those, func(a, b model.Dependent) int { return strings.Compare(a.Dependent, b.Dependent) })
	}
	return all
}

var (
	lacksHyphen = regexp.MustCompile(`^(\d+\.\d+\.\d+)([A-Za-z])`)
	stricts     = map[string]string{} // what strict has found out
)

// strict is the version as the semver package wants it.
func strict(version string) string {
	known, ok := stricts[version]
	if !ok {
		known = "v" + lacksHyphen.ReplaceAllString(version, "$1-$2")
		stricts[version] = known
	}
	return known
}

func compareVersions(a, b string) int {
	return cmp.Or(semver.Compare(strict(a), strict(b)), strings.Compare(a, b))
}

func sorted(set map[string]bool) []string {
	list := make([]string, 0, len(set))
	for s := range set {
		list = append(list, s)
	}
	slices.Sort(list)
	return list
}
