package main

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"

	"example.com/registry/model"
)

// sameRow compares rows but for the texts by which versions sort; where they put a row is compared instead.
var sameRow = cmp.Options{
	cmpopts.IgnoreFields(model.Version{}, "Order"),
	cmpopts.IgnoreFields(model.Package{}, "LatestOrder"),
	cmpopts.EquateEmpty(),
}

// difference tells how rows differ, "" for not at all. Most do not, and cmp takes its time to find that.
func difference[R any](want, got R) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got, sameRow)
}

// withoutOrder clears what is not compared, so that equal rows are found to be so at once.
func withoutOrder(rows []model.Version) []model.Version {
	for i := range rows {
		rows[i].Order = ""
	}
	return rows
}

// TestEveryPackageIsAsTheEventsSay, and names that are only depended on are no packages.
func TestEveryPackageIsAsTheEventsSay(t *testing.T) {
	for names := range slices.Chunk(want.names, 100) {
		ks := make([]keys.Key, len(names))
		for i, name := range names {
			ks[i] = keys.Key{PK: name}
		}
		rows, err := db.Get(t.Context(), model.PackageModel, ks, false)
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range names {
			expected, is := want.packages[name]
			if got := rows[i].Record != nil; got != is {
				t.Errorf("package %s: a row is there: %v, want %v", name, got, is)
			} else if is {
				got := decode(t, model.PackageCodec, rows[i])
				if diff := difference(expected, got); diff != "" {
					t.Errorf("package %s (-want +got):\n%s", name, diff)
				}
				latestIsARow(t, got)
			}
		}
	}
}

// latestIsARow fails unless latestOrder leads to the row of the latest version.
func latestIsARow(t *testing.T, p model.Package) {
	t.Helper()
	if p.LatestOrder == nil {
		if p.LatestVersion != nil {
			t.Errorf("package %s has no latestOrder", p.Name)
		}
		return
	}
	rows, err := db.Get(t.Context(), model.VersionModel, []keys.Key{{PK: p.Name, SK: *p.LatestOrder}}, false)
	if err != nil {
		t.Fatal(err)
	}
	if rows[0].Record == nil || decode(t, model.VersionCodec, rows[0]).Version != *p.LatestVersion {
		t.Errorf("package %s: latestOrder %q is not that of version %s", p.Name, *p.LatestOrder, *p.LatestVersion)
	}
}

// TestEveryVersionIsAsTheEventsSay, in version order.
func TestEveryVersionIsAsTheEventsSay(t *testing.T) {
	for _, name := range want.names {
		got := withoutOrder(partition(t, model.VersionCodec, driver.Primary, name))
		if diff := difference(want.versions[name], got); diff != "" {
			t.Errorf("versions of %s (-want +got):\n%s", name, diff)
		}
	}
}

// TestEveryDependentIsAsTheEventsSay, by its name.
func TestEveryDependentIsAsTheEventsSay(t *testing.T) {
	for _, name := range want.names {
		got := partition(t, model.DependentCodec, driver.Primary, name)
		if diff := difference(want.dependents[name], got); diff != "" {
			t.Errorf("dependents of %s (-want +got):\n%s", name, diff)
		}
	}
}

// TestIndexesHoldTheRowsOfTheirKeys in the order of time, and no others.
func TestIndexesHoldTheRowsOfTheirKeys(t *testing.T) {
	for _, name := range want.names {
		got := withoutOrder(partition(t, model.VersionCodec, indexOf(t, model.VersionModel, "byTime"), name))
		if !slices.IsSortedFunc(got, func(a, b model.Version) int { return a.PublishedAt.Compare(*b.PublishedAt) }) {
			t.Errorf("versions of %s are not sorted by time", name)
		}
		var expected []model.Version
		for _, v := range want.versions[name] {
			if v.PublishedAt != nil {
				expected = append(expected, v)
			}
		}
		place := map[string]int{}
		for i, v := range want.versions[name] {
			place[v.Version] = i
		}
		slices.SortFunc(got, func(a, b model.Version) int { return place[a.Version] - place[b.Version] })
		if diff := difference(expected, got); diff != "" {
			t.Errorf("versions of %s by time (-want +got):\n%s", name, diff)
		}
	}
	for _, license := range want.licenses {
		got := partition(t, model.PackageCodec, indexOf(t, model.PackageModel, "byLicense"), license)
		if !slices.IsSortedFunc(got, func(a, b model.Package) int { return a.LatestAt.Compare(*b.LatestAt) }) {
			t.Errorf("packages under %s are not sorted by time", license)
		}
		names := map[string]bool{}
		for _, p := range got {
			names[p.Name] = true
			if diff := difference(want.packages[p.Name], p); diff != "" {
				t.Errorf("package %s by licence (-want +got):\n%s", p.Name, diff)
			}
		}
		if diff := cmp.Diff(packagesUnder(license), sorted(names)); diff != "" || len(names) != len(got) {
			t.Errorf("%d packages under %s (-want +got):\n%s", len(got), license, diff)
		}
	}
}

// packagesUnder returns the names of the packages whose latest version has the licence.
func packagesUnder(license string) []string {
	names := map[string]bool{}
	for name, p := range want.packages {
		if p.License != nil && *p.License == license {
			names[name] = true
		}
	}
	return sorted(names)
}

// partition reads all rows of a partition of the table or of an index.
func partition[R any](t *testing.T, c *querydb.Codec[R], index int, pk string) []R {
	t.Helper()
	var all []R
	q := querydb.Query{Index: index, PK: pk, Limit: querydb.MaxPageRows}
	for {
		page, err := db.Query(t.Context(), c.Model, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range page.Rows {
			all = append(all, decode(t, c, row))
		}
		if page.Next == nil {
			return all
		}
		q.Start = page.Next
	}
}

func indexOf(t *testing.T, m *querydb.Model, name string) int {
	t.Helper()
	i := slices.IndexFunc(m.Indexes, func(x querydb.Index) bool { return x.Name == name })
	if i < 0 {
		t.Fatalf("%s has no index %s", m.Name, name)
	}
	return i
}

func decode[R any](t *testing.T, c *querydb.Codec[R], row querydb.Row) R {
	t.Helper()
	var r R
	if err := c.Decode(row.Record, &r); err != nil {
		t.Fatal(err)
	}
	return r
}
