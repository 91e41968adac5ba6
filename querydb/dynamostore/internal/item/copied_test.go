package item

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// TestAFieldThatAnotherProgramLeftOutIsReadFromTheCopy, and from nowhere else where the item has it, or no copy.
func TestAFieldThatAnotherProgramLeftOutIsReadFromTheCopy(t *testing.T) {
	team := []driver.Field{{Name: "id", Scalar: "ID"}, {Name: "name", Scalar: "String"}}
	table := &driver.Table{
		Name: "App", Kind: "Selection", Keys: driver.KeyNames{PK: "pk", SK: "sk", Kind: "__edd_e__"}, PK: []int{0},
		Fields: []driver.Field{
			{Name: "squadId", Scalar: "ID"},
			{Name: "teamId", Scalar: "ID", Nullable: true, Copied: driver.Copied{Object: "team", Field: "id"}},
			{Name: "team", Object: team, Nullable: true},
		},
	}
	s, err := NewCodec("", table)
	if err != nil {
		t.Fatal(err)
	}
	copied := &types.AttributeValueMemberM{Value: Item{"id": Text("aus"), "name": Text("Australia")}}
	for name, tt := range map[string]struct {
		attributes Item
		want       string
	}{
		"left out":    {Item{"team": copied}, `"aus"`},
		"there":       {Item{"team": copied, "teamId": Text("ind")}, `"ind"`},
		"of no copy":  {Item{}, ``},
		"there alone": {Item{"teamId": Text("ind")}, `"ind"`},
	} {
		d := s.Decoder(driver.Primary, "")
		tt.attributes["squadId"] = Text("s")
		rec, err := d.record(tt.attributes, keys.Key{PK: "s"})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if string(rec.JSON(1)) != tt.want {
			t.Errorf("%s: the id is %s, want %s", name, rec.JSON(1), tt.want)
		}
	}
}
