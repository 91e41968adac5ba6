package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// eachWay runs a test against what the server answers with, and against the generated resolvers alone.
func eachWay(t *testing.T, test func(t *testing.T, api http.Handler)) {
	t.Run("as served", func(t *testing.T) { test(t, api(false)) })
	t.Run("by resolvers", func(t *testing.T) { test(t, api(true)) })
}

var limits = []int{1, 2, 3, 7, 1000}

func TestVersionsComeInVersionOrder(t *testing.T) {
	eachWay(t, func(t *testing.T, api http.Handler) {
		const query = `query($id: ID!, $limit: Int, $reverse: Boolean, $next: String) {
			page: VersionById(id: $id, limit: $limit, reverse: $reverse, nextToken: $next) { items { version } nextToken } }`
		walked := 0
		for name, versions := range want.versions {
			var ascending []string
			for _, v := range versions {
				ascending = append(ascending, v.Version)
			}
			walk(t, api, query, vars{"id": name}, few(len(versions), walked), ascending,
				func(i struct{ Version string }) string { return i.Version })
			walked++
		}
	})
}

func TestDependentsComeInPages(t *testing.T) {
	eachWay(t, func(t *testing.T, api http.Handler) {
		const query = `query($id: ID!, $limit: Int, $reverse: Boolean, $next: String) {
			page: DependentById(id: $id, limit: $limit, reverse: $reverse, nextToken: $next) { items { dependent package { name } } nextToken } }`
		type item struct {
			Dependent string
			Package   struct{ Name string }
		}
		names := slices.SortedFunc(maps.Keys(want.dependents), func(a, b string) int {
			return len(want.dependents[b]) - len(want.dependents[a])
		})
		nobody := slices.IndexFunc(want.names, func(n string) bool { return len(want.dependents[n]) == 0 })
		for _, name := range append(names[:min(12, len(names))], want.names[nobody]) {
			var ascending []string
			for _, d := range want.dependents[name] {
				ascending = append(ascending, d.Dependent+" "+d.Dependent)
			}
			walk(t, api, query, vars{"id": name}, limits, ascending, func(i item) string {
				return i.Dependent + " " + i.Package.Name
			})
		}
	})
}

func TestPackagesOfALicenceComeNewestFirst(t *testing.T) {
	eachWay(t, func(t *testing.T, api http.Handler) {
		const query = `query($license: String!, $limit: Int, $reverse: Boolean, $next: String) {
			page: PackageByLicense(license: $license, limit: $limit, reverse: $reverse, nextToken: $next) { items { name latestAt } nextToken } }`
		type item struct {
			Name     string
			LatestAt time.Time
		}
		for _, license := range want.licenses {
			for _, limit := range limits {
				all := pages[item](t, api, query, vars{"license": license, "limit": limit, "reverse": true})
				if !slices.IsSortedFunc(all, func(a, b item) int { return b.LatestAt.Compare(a.LatestAt) }) {
					t.Errorf("%s, pages of %d: not newest first", license, limit)
				}
				names := map[string]bool{}
				for _, i := range all {
					names[i.Name] = true
					if at := want.packages[i.Name].LatestAt; !at.Equal(i.LatestAt) {
						t.Errorf("%s: latestAt %s, want %s", i.Name, i.LatestAt, at)
					}
				}
				if diff := cmp.Diff(packagesUnder(license), sorted(names)); diff != "" || len(names) != len(all) {
					t.Errorf("%s, pages of %d: %d packages (-want +got):\n%s", license, limit, len(all), diff)
				}
			}
		}
	})
}

func TestVersionsOfATimeAreFound(t *testing.T) {
	eachWay(t, func(t *testing.T, api http.Handler) {
		const query = `query($id: ID!, $month: String, $limit: Int, $next: String) {
			page: VersionByTime(package: $id, from: $month, to: $month, limit: $limit, nextToken: $next) { items { version } nextToken } }`
		for name, versions := range want.versions {
			month := versions[0].PublishedAt.UTC().Format("2006-01")
			expected, got := map[string]bool{}, map[string]bool{}
			for _, v := range versions {
				if v.PublishedAt.UTC().Format("2006-01") == month {
					expected[v.Version] = true
				}
			}
			all := pages[struct{ Version string }](t, api, query, vars{"id": name, "month": month, "limit": 100})
			for _, v := range all {
				got[v.Version] = true
			}
			if diff := cmp.Diff(sorted(expected), sorted(got)); diff != "" || len(all) != len(got) {
				t.Errorf("versions of %s in %s (-want +got):\n%s", name, month, diff)
			}
		}
	})
}

// TestDependenciesThatAreNotThereAreDropped, and the others come in the order in which the version names them.
func TestDependenciesThatAreNotThereAreDropped(t *testing.T) {
	eachWay(t, func(t *testing.T, api http.Handler) {
		const query = `query($id: ID!) { page: VersionById(id: $id, reverse: true, limit: 100) {
			items { version dependencies dependencyPackages { name latestVersion } home { name } } } }`
		dropped, kept := 0, 0
		for name, versions := range want.versions {
			items := page[versionItem](t, api, query, vars{"id": name}).Items
			if len(items) != min(100, len(versions)) {
				t.Errorf("%d versions of %s, want %d", len(items), name, min(100, len(versions)))
			}
			for i, got := range items {
				of := versions[len(versions)-1-i]
				if got.Version != of.Version || !slices.Equal(of.Dependencies, got.Dependencies) || got.Home.Name != name {
					t.Errorf("got %+v, want version %s of %s and dependencies %q", got, of.Version, name, of.Dependencies)
				}
				if want := known(of.Dependencies); !slices.Equal(want, got.packages()) {
					t.Errorf("%s %s: packages %q, want %q", name, got.Version, got.packages(), want)
				}
				kept += len(got.DependencyPackages)
				dropped += len(got.Dependencies) - len(got.DependencyPackages)
			}
		}
		if kept == 0 || dropped == 0 {
			t.Errorf("%d dependencies were found and %d dropped: the events show too little", kept, dropped)
		}
	})
}

// versionItem is a version and what is joined to it.
type versionItem struct {
	Version            string
	Dependencies       []string
	DependencyPackages []struct{ Name, LatestVersion string }
	Home               struct{ Name string }
}

// packages are the joined packages, with their latest versions.
func (v versionItem) packages() (list []string) {
	for _, p := range v.DependencyPackages {
		list = append(list, p.Name+" "+p.LatestVersion)
	}
	return list
}

// known are those of the dependencies that are packages, with their latest versions.
func known(dependencies []string) (list []string) {
	for _, d := range dependencies {
		if p, is := want.packages[d]; is {
			list = append(list, d+" "+*p.LatestVersion)
		}
	}
	return list
}

// TestExamplesAnswer with rows, each of them.
func TestExamplesAnswer(t *testing.T) {
	names := regexp.MustCompile(`(?m)^query (\w+)`).FindAllStringSubmatch(examples, -1)
	if len(names) == 0 {
		t.Fatal("there are no examples")
	}
	eachWay(t, func(t *testing.T, api http.Handler) {
		for _, name := range names {
			answer := post(t, api, map[string]any{"query": examples, "operationName": name[1]})
			if bytes.Contains(answer, []byte(`:null}`)) && !bytes.Contains(answer, []byte(`"nextToken":null}`)) ||
				bytes.Contains(answer, []byte(`"items":[]`)) {
				t.Errorf("%s answers with nothing: %s", name[1], answer)
			}
		}
	})
}

func TestReadmeShowsTheExamples(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "```graphql\n"+examples+"```") {
		t.Error("README.md does not show cmd/server/examples.graphql as it is")
	}
}

type vars = map[string]any

// few are the limits for a walk over n rows, one walk of many: where there are many rows, small pages take too long,
// and the walks take turns with the others.
func few(n, walked int) []int {
	if n > 40 {
		return []int{1000}
	}
	return limits[walked%len(limits):][:1]
}

// walk pages through a query in both directions and compares what the pages give with what is there.
func walk[I any](t *testing.T, api http.Handler, query string, v vars, limits []int, ascending []string,
	text func(I) string) {
	t.Helper()
	for _, limit := range limits {
		for _, reverse := range []bool{false, true} {
			v["limit"], v["reverse"] = limit, reverse
			var got []string
			for _, i := range pages[I](t, api, query, v) {
				got = append(got, text(i))
			}
			if reverse {
				slices.Reverse(got)
			}
			if !slices.Equal(ascending, got) {
				t.Errorf("%v (-want +got):\n%s", v, cmp.Diff(ascending, got))
			}
		}
	}
}

// pages asks for page after page and returns their items. Every page but the last is full.
func pages[I any](t *testing.T, api http.Handler, query string, v vars) []I {
	t.Helper()
	var all []I
	v = maps.Clone(v)
	for {
		p := page[I](t, api, query, v)
		all = append(all, p.Items...)
		if p.NextToken == nil {
			return all
		}
		if len(p.Items) != v["limit"] {
			t.Fatalf("%v: a page of %d, and yet there is another", v, len(p.Items))
		}
		v["next"] = *p.NextToken
	}
}

// connection is a page of an answer.
type connection[I any] struct {
	Items     []I
	NextToken *string
}

// page asks once; the query calls its connection page.
func page[I any](t *testing.T, api http.Handler, query string, v vars) connection[I] {
	t.Helper()
	var answer struct{ Data struct{ Page connection[I] } }
	if err := json.Unmarshal(post(t, api, map[string]any{"query": query, "variables": v}), &answer); err != nil {
		t.Fatal(err)
	}
	return answer.Data.Page
}

// post sends a request and returns an answer without errors.
func post(t *testing.T, api http.Handler, request map[string]any) []byte {
	t.Helper()
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("POST", "/graphql", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	api.ServeHTTP(w, r)
	if w.Code != http.StatusOK || bytes.Contains(w.Body.Bytes(), []byte(`"errors":[`)) {
		t.Fatalf("%v: status %d: %s", request, w.Code, w.Body)
	}
	return w.Body.Bytes()
}
