package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"

	"example.com/blog/model"
)

// TestRowsAreStoredUnderTheseKeys: the texts of the table and of its four indexes, as other programs find them there.
func TestRowsAreStoredUnderTheseKeys(t *testing.T) {
	s := sample(t)
	for _, tt := range []struct {
		model *querydb.Model
		key   keys.Key
		gsis  []driver.IndexKey
	}{
		{
			model.UserModel, keys.Key{PK: "user#123", SK: "profile"},
			[]driver.IndexKey{typed("user"), in("user#email", "alice@example.com"), in("user#username", "alice"), {}},
		},
		{
			model.PostModel, keys.Key{PK: "user#123", SK: "post#2024-01-15T10:30:00.000Z#abc"},
			[]driver.IndexKey{
				typed("post"), in("post#feed", "2024-01-15T10:30:00.000Z#abc"), in("post#id", "abc"),
				in("post#status#published", "2024-01-15T10:30:00.000Z#abc"),
			},
		},
		{ // given with an offset
			model.PostModel, keys.Key{PK: "user#123", SK: "post#2024-02-01T08:00:00.000Z#jkl"},
			[]driver.IndexKey{
				typed("post"), in("post#feed", "2024-02-01T08:00:00.000Z#jkl"), in("post#id", "jkl"),
				in("post#status#published", "2024-02-01T08:00:00.000Z#jkl"),
			},
		},
		{
			model.PostModel, keys.Key{PK: "user#123", SK: "post#2024-02-03T10:00:00.000Z#pqr"},
			[]driver.IndexKey{
				typed("post"), in("post#feed", "2024-02-03T10:00:00.000Z#pqr"), in("post#id", "pqr"),
				in("post#status#draft", "2024-02-03T10:00:00.000Z#pqr"),
			},
		},
		{
			model.PostModel, keys.Key{PK: "user#124", SK: "post#2024-02-03T10:00:00.000Z#mno"},
			[]driver.IndexKey{
				typed("post"), in("post#feed", "2024-02-03T10:00:00.000Z#mno"), in("post#id", "mno"),
				in("post#status#archived", "2024-02-03T10:00:00.000Z#mno"),
			},
		},
		{
			model.MemberModel, keys.Key{PK: "org#acme", SK: "team#editors#member#123"},
			[]driver.IndexKey{{}, {}, {}, {}},
		},
	} {
		rows, err := s.db.Get(t.Context(), tt.model, []keys.Key{tt.key}, false)
		if err != nil {
			t.Fatal(err)
		}
		if rows[0].Record == nil {
			t.Errorf("there is no %s under %q", tt.model.Name, tt.key)
		} else if diff := cmp.Diff(tt.gsis, rows[0].Indexes); diff != "" {
			t.Errorf("index keys of %q (-want +got):\n%s", tt.key, diff)
		}
	}
}

// in is a key of an index with both halves.
func in(pk, sk string) driver.IndexKey {
	return driver.IndexKey{Key: keys.Key{PK: pk, SK: sk}, HasPK: true, HasSK: true}
}

// typed is a key of the index that has the type alone.
func typed(text string) driver.IndexKey { return driver.IndexKey{Key: keys.Key{PK: text}, HasPK: true} }

// TestAttributesAreCalledAsInTheGuide: the index of all of a type has one attribute, and those after it are counted
// from one.
func TestAttributesAreCalledAsInTheGuide(t *testing.T) {
	shared := model.PostModel.Entity.Table
	want := []querydb.SharedIndex{
		{Name: "gsi1", KeyNames: driver.KeyNames{PK: "type"}},
		{Name: "gsi2", AlwaysSorted: true, KeyNames: driver.KeyNames{PK: "gsi1pk", SK: "gsi1sk"}},
		{Name: "gsi3", AlwaysSorted: true, KeyNames: driver.KeyNames{PK: "gsi2pk", SK: "gsi2sk"}},
		{Name: "gsi4", AlwaysSorted: true, KeyNames: driver.KeyNames{PK: "gsi3pk", SK: "gsi3sk"}},
	}
	if diff := cmp.Diff(want, shared.Indexes); diff != "" {
		t.Errorf("indexes of the table (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(driver.KeyNames{PK: "pk", SK: "sk", Kind: "__edd_e__"}, shared.KeyNames); diff != "" {
		t.Errorf("keys of the table (-want +got):\n%s", diff)
	}
}

// TestTemplatesThatTheBlogHasNoUseFor give the keys that the guide shows beside those of the blog.
func TestTemplatesThatTheBlogHasNoUseFor(t *testing.T) {
	kinds := map[string]keys.Kind{
		"id": keys.KindString, "email": keys.KindString, "day": keys.KindDate, "number": keys.KindInt,
		"createdAt": keys.KindDateTime,
	}
	day := time.Date(2024, 1, 15, 10, 30, 0, 0, time.UTC)
	for _, tt := range []struct {
		template, want string
		values         []keys.Value
	}{
		{"profile#{email}", "profile#alice@example.com", []keys.Value{keys.String("alice@example.com")}},
		{"user#{id}", "user#123", []keys.Value{keys.String("123")}},
		{"post#{day}#{id}", "post#2024-01-15#abc", []keys.Value{keys.DateOf("2024-01-15"), keys.String("abc")}},
		{"post#{id}", "post#abc", []keys.Value{keys.String("abc")}},
		{"order#{id}", "order#abc", []keys.Value{keys.String("abc")}},
		{"{createdAt}#{id}", "2024-01-15T10:30:00.000Z#abc", []keys.Value{keys.DateTime(day), keys.String("abc")}},
		{"{number}", "123", []keys.Value{keys.Int(123)}},
		{"static", "static", nil},
	} {
		template, err := keys.ParseTemplate(tt.template)
		if err != nil {
			t.Fatal(err)
		}
		layout, err := template.Layout(keys.CasingNone, func(field string) keys.Kind { return kinds[field] })
		if err != nil {
			t.Fatal(err)
		}
		if got, err := layout.Compose(tt.values...); err != nil || got != tt.want {
			t.Errorf("%s gives %q and %v, want %q", tt.template, got, err, tt.want)
		}
	}
}
