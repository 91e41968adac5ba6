package keys

import (
	"testing"
)

// guide is the schema of the first key design guide.
var guide = EntitySchema{Name: "myapp", Version: 1, Casing: CasingLower}

func texted(fields ...string) []Segment {
	out := make([]Segment, len(fields))
	for i, f := range fields {
		out[i] = Segment{Field: f, Kind: KindString}
	}
	return out
}

// pk and sk compose a half of string composites, given as name and value in turn.
func (e EntityKey) pk(composites ...string) (Layout, []Value) { return stringHalf(e.PK, composites) }
func (e EntityKey) sk(composites ...string) (Layout, []Value) { return stringHalf(e.SK, composites) }

func stringHalf(layout func(...Segment) Layout, composites []string) (Layout, []Value) {
	var names []string
	var vals []Value
	for i := 0; i < len(composites); i += 2 {
		names, vals = append(names, composites[i]), append(vals, String(composites[i+1]))
	}
	return layout(texted(names...)...), vals
}

// key is the form of an entity's key in the guide.
func key(entity string, collection ...string) EntityKey {
	return EntityKey{Schema: guide, Type: entity, Collection: collection, Clustered: true, Casing: CasingLower}
}

func isolated(entity, collection string) EntityKey {
	e := key(entity, collection)
	e.Clustered = false
	return e
}

func wantKey(t *testing.T, want string, l Layout, vals []Value) {
	t.Helper()
	if got, err := l.Compose(vals...); err != nil || got != want {
		t.Errorf("Compose = %q, %v, want %q", got, err, want)
	}
}

func TestTheKeysOfTheFirstGuide(t *testing.T) {
	check := func(want string, l Layout, vals []Value) {
		t.Helper()
		wantKey(t, want, l, vals)
	}
	is := func(l Layout, vals []Value) func(string) {
		return func(want string) { t.Helper(); check(want, l, vals) }
	}

	// Format
	is(key("Task").pk("taskId", "t-001"))("$myapp#v1#task#taskid_t-001")
	is(key("Task").sk("projectId", "proj-alpha", "status", "active"))("$myapp#v1#task#projectid_proj-alpha#status_active")
	is(key("Task").sk())("$myapp#v1#task")

	// Casing. The guide prints this one as "$myapp#v1#employee#emp-alice", without the name that its rule and its tables
	// have: that is one of its two inconsistent keys, and no layout here composes it.
	is(key("Employee").pk("employeeId", "Emp-Alice"))("$myapp#v1#employee#employeeid_emp-alice")

	// Isolated
	is(isolated("Employee", "departmentStaff").sk("hireDate", "2020-01-15"))("$myapp#v1#employee_1#hiredate_2020-01-15")
	is(isolated("Equipment", "departmentStaff").sk("purchaseDate", "2023-06-01"))(
		"$myapp#v1#equipment_1#purchasedate_2023-06-01")

	// Clustered
	is(key("Employee", "tenantMembers").sk("department", "engineering", "hireDate", "2020-01-15"))(
		"$myapp#v1#tenantmembers#employee_1#department_engineering#hiredate_2020-01-15")
	is(key("Task", "tenantMembers").sk("projectId", "proj-alpha", "taskId", "t-001"))(
		"$myapp#v1#tenantmembers#task_1#projectid_proj-alpha#taskid_t-001")

	// Hierarchical
	is(key("Employee", "contributions").sk("department", "engineering"))(
		"$myapp#v1#contributions#employee_1#department_engineering")
	is(key("Task", "contributions", "assignments").sk("projectId", "p-α", "taskId", "t-001"))(
		"$myapp#v1#contributions#assignments#task_1#projectid_p-α#taskid_t-001")
	is(key("ProjectMember", "contributions", "assignments").sk("projectId", "p-α"))(
		"$myapp#v1#contributions#assignments#projectmember_1#projectid_p-α")

	// The items of the worked example
	is(key("Employee").pk("employeeId", "emp-alice"))("$myapp#v1#employee#employeeid_emp-alice")
	is(key("Employee").sk())("$myapp#v1#employee")
	is(key("Employee", "tenantMembers").pk("tenantId", "t-acme"))("$myapp#v1#tenantmembers#tenantid_t-acme")
	is(key("Employee", "tenantMembers").sk("department", "engineering", "hireDate", "2024-01-15"))(
		"$myapp#v1#tenantmembers#employee_1#department_engineering#hiredate_2024-01-15")
	is(key("Employee").pk("employeeId", "emp-bob"))("$myapp#v1#employee#employeeid_emp-bob")
	is(key("Employee", "tenantMembers").sk("department", "sales", "hireDate", "2023-06-01"))(
		"$myapp#v1#tenantmembers#employee_1#department_sales#hiredate_2023-06-01")
}

// The guide's begins_with operands are open at their end; ours are closed, so that no other name goes on from them.
func TestTheOperandsOfTheFirstGuideAreClosed(t *testing.T) {
	member := func(e EntityKey, fields ...string) Range {
		t.Helper()
		ranges, err := e.SK(texted(fields...)...).Select(nil, Condition{})
		if err != nil || len(ranges) != 1 {
			t.Fatal(ranges, err)
		}
		return ranges[0]
	}
	for guide, got := range map[string]Range{
		"$myapp#v1#employee_1":                member(isolated("Employee", "departmentStaff"), "hireDate"),
		"$myapp#v1#tenantmembers":             key("Task", "tenantMembers").CollectionRange(0),
		"$myapp#v1#tenantmembers#employee_1":  member(key("Employee", "tenantMembers"), "department", "hireDate"),
		"$myapp#v1#tenantmembers#task_1":      member(key("Task", "tenantMembers"), "projectId", "taskId"),
		"$myapp#v1#contributions":             key("Task", "contributions", "assignments").CollectionRange(0),
		"$myapp#v1#contributions#assignments": key("Task", "contributions", "assignments").CollectionRange(1),
	} {
		if want := (Range{Op: RangePrefix, Lo: guide + "#"}); got != want {
			t.Errorf("the range is %v, want %v", got, want)
		}
	}
	if got := isolated("Employee", "departmentStaff").CollectionRange(0); got != (Range{}) {
		t.Errorf("an isolated collection is %v of its partition, want all", got)
	}
}

func TestTheKeysOfTheThirdGuide(t *testing.T) {
	asset := EntityKey{Schema: EntitySchema{Name: "indexpolicy-demo", Version: 1, Casing: CasingLower}, Type: "Asset",
		Casing: CasingLower}
	l, vals := asset.sk("country", "us", "city", "sf", "site", "datacenter-1")
	wantKey(t, "$indexpolicy-demo#v1#asset#country_us#city_sf#site_datacenter-1", l, vals)
	if got, err := l.ComposeTruncated(vals[:2]...); got != "$indexpolicy-demo#v1#asset#country_us#city_sf" || err != nil {
		t.Errorf("Truncate = %q, %v", got, err)
	}

	// In its text the guide shortens keys, inconsistently with the keys that it prints in code: they have the names of the
	// attributes in full, and a head. As templates they are these.
	for _, test := range []struct {
		template, want string
		vals           []Value
	}{
		{"account#{accountId}#fleet#{fleetId}", "account#A", []Value{String("A")}},
		{"account#{accountId}", "account#newAcct", []Value{String("newAcct")}},
		{"alert#{alertState}#ts#{timestamp}", "alert#active#ts#T2", []Value{String("active"), String("T2")}},
		{"region#{region}#country#{country}#city#{city}#site#{site}", "region#R#country#C#city#S",
			[]Value{String("R"), String("C"), String("S")}},
	} {
		l, err := templateLayout(test.template, CasingNone, allStrings)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := l.ComposeTruncated(test.vals...); got != test.want || err != nil {
			t.Errorf("Truncate = %q, %v, want %q", got, err, test.want)
		}
	}
}

func TestTheCasingOfAnIndexBeatsThatOfTheSchema(t *testing.T) {
	e := EntityKey{Schema: EntitySchema{Name: "MyApp", Version: 12, Casing: CasingUpper}, Type: "Task", Casing: CasingNone,
		Collection: []string{"byLoc", "deep"}, Clustered: true}
	l, vals := e.sk("taskId", "T-a")
	wantKey(t, "$MYAPP#v12#byLoc#deep#Task_1#taskId_T-a", l, vals)
	e.Casing, e.Schema.Casing = CasingUpper, CasingNone
	l, vals = e.sk("taskId", "T-a")
	wantKey(t, "$MyApp#v12#BYLOC#DEEP#TASK_1#TASKID_T-A", l, vals)
}

func TestValuesOfEveryKindStandInEntityKeys(t *testing.T) {
	for _, test := range []struct {
		v    Value
		want string
	}{
		{Boolean(true), "$myapp#v1#task#f_true#end_x"},
		{Int(42), "$myapp#v1#task#f_0000000000000042#end_x"},
		{Int(-42), "$myapp#v1#task#f_-9999999999999957~#end_x"},
		{Float(42.5), "$myapp#v1#task#f_0000000000000042.5#end_x"},
		{DateOf("2024-01-15"), "$myapp#v1#task#f_2024-01-15#end_x"},
		{instant("2024-01-15T10:30:00.1234Z"), "$myapp#v1#task#f_2024-01-15t10:30:00.123z4#end_x"},
		{String(""), "$myapp#v1#task#f_#end_x"},
		{String("50%#A"), "$myapp#v1#task#f_50%25%23a#end_x"},
	} {
		l := key("Task").SK(Segment{Field: "f", Kind: test.v.Kind()}, Segment{Field: "end", Kind: KindString})
		wantKey(t, test.want, l, []Value{test.v, String("X")})
	}
}

func TestBuildersLeaveWhatTheyAreGiven(t *testing.T) {
	collection := make([]string, 1, 4)
	collection[0] = "tenantMembers"
	composites := texted("a")
	e := key("Task", collection...)
	e.SK(composites...)
	other := e
	other.Type = "Employee"
	wantKey(t, "$myapp#v1#tenantmembers#employee_1", other.SK(), nil)
	wantKey(t, "$myapp#v1#tenantmembers#task_1", e.SK(), nil)
	if composites[0].Before != "" {
		t.Errorf("the caller's composite became %v", composites[0])
	}
}

// TestItemsOfAnAggregateHoldValuesWithoutNames, as vectors/effect-aggregates.json has them.
func TestItemsOfAnAggregateHoldValuesWithoutNames(t *testing.T) {
	cricket := func(name string) EntityKey {
		return EntityKey{Schema: EntitySchema{Name: "Cricket", Version: 1, Casing: CasingLower}, Type: name,
			Casing: CasingLower}
	}
	team := Discriminator{Name: "teamNumber", Value: Int(1)}
	wantKey(t, "$cricket#v1#match#bgt-2025-test-1", cricket("match").Item(nil, texted("id")...),
		[]Value{String("bgt-2025-Test-1")})
	wantKey(t, "$cricket#v1#matchitem", cricket("MatchItem").Item(nil), nil)
	wantKey(t, "$cricket#v1#matchcoach#teamnumber#0000000000000001",
		cricket("MatchCoach").Item([]Discriminator{team}), nil)
	wantKey(t, "$cricket#v1#matchplayer#teamnumber#0000000000000001#cummins-01",
		cricket("MatchPlayer").Item([]Discriminator{team}, texted("playerId")...), []Value{String("cummins-01")})
	wantKey(t, "$cricket#v1#over#side#a%23b#0000000000000007", cricket("Over").Item(
		[]Discriminator{{Name: "side", Value: String("A#b")}}, Segment{Field: "number", Kind: KindInt}), []Value{Int(7)})
}
