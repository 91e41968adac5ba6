package keys

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"testing"
)

// device is a half of an index of devices, of string composites.
func device(policy Policy, composites ...string) IndexHalf {
	return IndexHalf{Layout: key("Device").SK(texted(composites...)...), Policy: policy}
}

// stored is the key text of a half, "-" where there is none.
func stored(o HalfUpdate, before string) string {
	text, has := o.Apply(before, before != "-")
	if !has {
		return "-"
	}
	return text
}

// TestOutcomesAreWhatTheGuideSays tries every half of up to three composites with every mention of each, and compares
// with a model written from the guide's tables.
func TestOutcomesAreWhatTheGuideSays(t *testing.T) {
	var options []PatchedComposite
	for _, k := range []Value{{}, String("k")} {
		for _, p := range []PatchedComposite{{Change: FieldUntouched}, {Change: FieldGiven, Value: String("v")},
			{Change: FieldGiven},
			{Change: FieldCleared}, {Change: FieldRemoved}} {
			p.KeyValue = k
			options = append(options, p)
		}
	}
	cases := 0
	var try func(parts []PatchedComposite, n int)
	try = func(parts []PatchedComposite, n int) {
		if len(parts) < n {
			for _, p := range options {
				try(append(parts[:len(parts):len(parts)], p), n)
			}
			return
		}
		for _, policy := range []Policy{PolicyPreserve, PolicySparse} {
			for _, whole := range []bool{false, true} {
				cases++
				h := device(policy, []string{"a", "b", "c"}[:n]...)
				h.NeverTruncate = whole
				got, err := h.UpdateForPatch(parts)
				if want := judged(&h, parts); err != nil || got != want {
					t.Fatalf("policy %v, whole %t, %+v: %v, %v, want %v", policy, whole, parts, got, err, want)
				}
			}
		}
	}
	for n := range 4 {
		try(nil, n)
	}
	if cases != 4*(1+10+100+1000) {
		t.Errorf("%d cases", cases)
	}
}

// judged is the model: a half's outcome by the guide's skip-predicate, structural rule and roll-up, in its own words.
// That no key of a Whole half is cut short is our own.
func judged(h *IndexHalf, parts []PatchedComposite) HalfUpdate {
	payload, keyRecord, removed := map[int]string{}, map[int]string{}, map[int]bool{}
	absent := map[int]bool{}
	for i, p := range parts {
		if p.KeyValue.Present() {
			keyRecord[i] = p.KeyValue.AsString()
		}
		switch p.Change {
		case FieldGiven, FieldCleared:
			payload[i] = p.Value.AsString()
			absent[i] = !p.Value.Present() || p.Change == FieldCleared
		case FieldRemoved:
			removed[i] = true
		}
	}
	if len(parts) > 0 && len(removed) == 0 && len(payload) == 0 && len(keyRecord) < len(parts) {
		return HalfUpdate{} // skipped; with keyRecord complete it is the half of the entity's own key
	}
	merged := map[int]string{}
	for i, v := range keyRecord {
		merged[i] = v
	}
	for i, v := range payload {
		if merged[i] = v; absent[i] {
			delete(merged, i)
		}
	}
	for i := range removed {
		delete(merged, i)
	}
	text, lead := "$myapp#v1#device", 0
	for ; lead < len(parts); lead++ {
		v, ok := merged[lead]
		if !ok {
			break
		}
		text += fmt.Sprintf("#%c_%s", 'a'+lead, v)
	}
	composed := lead == len(merged) && (lead > 0 || len(parts) == 0)
	switch {
	case composed && (!h.NeverTruncate || lead == len(parts)):
		return HalfUpdate{SetKey, text}
	case h.Policy == PolicySparse || len(removed) > 0:
		return HalfUpdate{Op: RemoveKey}
	}
	return HalfUpdate{}
}

func TestTheLifecyclesOfTheThirdGuide(t *testing.T) {
	account, alert := device(PolicyPreserve, "accountId"), device(PolicySparse, "alertState", "timestamp")
	const acme, other = "$myapp#v1#device#accountid_acme", "$myapp#v1#device#accountid_newacct"
	at := func(hour string) string {
		return "$myapp#v1#device#alertstate_active#timestamp_2026-04-30t" + hour + ":00:00z"
	}
	given := func(s string) PatchedComposite { return PatchedComposite{Change: FieldGiven, Value: String(s)} }
	none := []PatchedComposite{{}, {}}
	pk, sk := "-", "-"
	for _, step := range []struct {
		name           string
		pk, sk         []PatchedComposite
		wantPK, wantSK string
	}{
		{"put", []PatchedComposite{given("acme")}, []PatchedComposite{given("active"), given("2026-04-30T10:00:00Z")},
			acme, at("10")},
		{"stamp", []PatchedComposite{{}}, none, acme, at("10")},
		{"enrichment", []PatchedComposite{given("newAcct")}, none, other, at("10")},
		{"telemetry", []PatchedComposite{{}}, []PatchedComposite{given("active"), given("2026-04-30T11:00:00Z")},
			other, at("11")},
		{"no alert", []PatchedComposite{{}}, []PatchedComposite{{Change: FieldCleared}, given("2026-04-30T12:00:00Z")},
			other, "-"},
		{"stamp while there is none", []PatchedComposite{{}}, none, other, "-"},
		{"rejoin", []PatchedComposite{{}}, []PatchedComposite{given("active"), given("2026-04-30T13:00:00Z")},
			other, at("13")},
		{"account cleared", []PatchedComposite{{Change: FieldCleared}}, none, other, at("13")}, // PRESERVE: may be stale
		{"account removed", []PatchedComposite{{Change: FieldRemoved}}, none, "-", at("13")},
		{"timestamp alone", []PatchedComposite{{}}, []PatchedComposite{{}, given("2026-04-30T14:00:00Z")}, "-", "-"},
	} {
		forPK, err := account.UpdateForPatch(step.pk)
		forSK, errSK := alert.UpdateForPatch(step.sk)
		pk, sk = stored(forPK, pk), stored(forSK, sk)
		if err = cmp.Or(err, errSK); err != nil || pk != step.wantPK || sk != step.wantSK {
			t.Errorf("%s: %q, %q, %v, want %q, %q", step.name, pk, sk, err, step.wantPK, step.wantSK)
		}
	}
}

func TestARowIsDemotedWhereItsLeafIsRemoved(t *testing.T) {
	h := device(PolicyPreserve, "country", "city", "site")
	given := func(s string) PatchedComposite { return PatchedComposite{Change: FieldGiven, Value: String(s)} }
	for _, test := range []struct {
		parts []PatchedComposite
		want  HalfUpdate
	}{
		{[]PatchedComposite{given("us"), given("sf"), {Change: FieldRemoved}},
			HalfUpdate{SetKey, "$myapp#v1#device#country_us#city_sf"}},
		{[]PatchedComposite{given("us"), given("sf"), {Change: FieldCleared}},
			HalfUpdate{SetKey, "$myapp#v1#device#country_us#city_sf"}},
		{[]PatchedComposite{{}, {}, {Change: FieldRemoved}}, HalfUpdate{Op: RemoveKey}},
		{[]PatchedComposite{given("us"), {Change: FieldRemoved}, given("dc")}, HalfUpdate{Op: RemoveKey}},
		{[]PatchedComposite{given("us"), {Change: FieldCleared}, given("dc")}, HalfUpdate{}},
	} {
		if got, err := h.UpdateForPatch(test.parts); got != test.want || err != nil {
			t.Errorf("%+v: %v, %v, want %v", test.parts, got, err, test.want)
		}
	}
}

// The two regressions that the guide tells of: halves that a patch without their composites must write all the same.
func TestHalvesThatEveryWriterKnowsAreAlwaysSet(t *testing.T) {
	channel, deviceID := device(PolicyPreserve, "channel"), device(PolicySparse, "deviceId")
	binding, constant := device(PolicyPreserve, "deviceBinding"), device(PolicySparse)
	for _, test := range []struct {
		half  IndexHalf
		parts []PatchedComposite
		want  HalfUpdate
	}{
		{channel, []PatchedComposite{{KeyValue: String("c-1")}}, HalfUpdate{SetKey, "$myapp#v1#device#channel_c-1"}},
		{deviceID, []PatchedComposite{{KeyValue: String("d-1")}}, HalfUpdate{SetKey, "$myapp#v1#device#deviceid_d-1"}},
		{binding, []PatchedComposite{{Change: FieldGiven, Value: String("cloud#dev-1")}},
			HalfUpdate{SetKey, "$myapp#v1#device#devicebinding_cloud%23dev-1"}},
		{binding, []PatchedComposite{{}}, HalfUpdate{}},
		{constant, nil, HalfUpdate{SetKey, "$myapp#v1#device"}},
	} {
		if got, err := test.half.UpdateForPatch(test.parts); got != test.want || err != nil {
			t.Errorf("%v, %v: %v, %v, want %v", test.half, test.parts, got, err, test.want)
		}
	}
}

func TestAMixedHalfIsLeftToTheWriterOfItsOthers(t *testing.T) {
	for _, policy := range []Policy{PolicyPreserve, PolicySparse} {
		for _, h := range []IndexHalf{device(policy, "deviceId", "alertState"), device(policy, "alertState", "deviceId")} {
			parts := make([]PatchedComposite, 2)
			for i, s := range h.Layout.Segments {
				if s.Field == "deviceId" {
					parts[i].KeyValue = String("d-1")
				}
			}
			if got, err := h.UpdateForPatch(parts); got != (HalfUpdate{}) || err != nil {
				t.Errorf("%v: an unrelated patch does %v, %v", h, got, err)
			}
		}
	}
}

// TestAFullWriteComposesAllOrNothing tries every half of up to three composites with every one of them there or not.
func TestAFullWriteComposesAllOrNothing(t *testing.T) {
	for n := range 4 {
		l := device(PolicySparse, []string{"a", "b", "c"}[:n]...).Layout
		for there := range 1 << n {
			vals, want := make([]Value, n), HalfUpdate{SetKey, "$myapp#v1#device"}
			for i := range vals {
				if there>>i&1 == 0 {
					want = HalfUpdate{Op: RemoveKey}
					continue
				}
				if vals[i] = String("v"); want.Op == SetKey {
					want.Key += fmt.Sprintf("#%c_v", 'a'+i)
				}
			}
			if got, err := l.UpdateForPut(vals); got != want || err != nil {
				t.Errorf("Put(%v) = %v, %v, want %v", vals, got, err, want)
			}
		}
	}
}

// TestHalvesTogetherAreBothThereOrNeither tries what a full write may do to each half, and no sort half.
func TestHalvesTogetherAreBothThereOrNeither(t *testing.T) {
	set, gone := HalfUpdate{SetKey, "k"}, HalfUpdate{Op: RemoveKey}
	for _, test := range []struct{ pk, sk, wantPK, wantSK HalfUpdate }{
		{set, set, set, set}, {set, gone, gone, gone}, {gone, set, gone, gone}, {gone, gone, gone, gone},
		{set, HalfUpdate{}, set, HalfUpdate{}}, {gone, HalfUpdate{}, gone, gone},
	} {
		if pk, sk := PairUpdates(test.pk, test.sk); pk != test.wantPK || sk != test.wantSK {
			t.Errorf("Together(%v, %v) = %v, %v, want %v, %v", test.pk, test.sk, pk, sk, test.wantPK, test.wantSK)
		}
	}
}

func TestAHalfThatWouldBeEmptyHasNoKey(t *testing.T) {
	bare, gone := IndexHalf{Layout: template(t, "{email}", allStrings)}, HalfUpdate{Op: RemoveKey}
	if pk, err := bare.Layout.UpdateForPut([]Value{String("")}); pk != gone || err != nil {
		t.Errorf("a full write: %v, %v, want it removed", pk, err)
	}
	if pk, err := bare.UpdateForPatch([]PatchedComposite{{Change: FieldGiven, Value: String("")}}); pk != gone ||
		err != nil {
		t.Errorf("a patch: %v, %v, want it removed", pk, err)
	}
}

func TestWhatHasNoKeyIsAnErrorOfThePatch(t *testing.T) {
	h := IndexHalf{Layout: key("Device").SK(Segment{Field: "x", Kind: KindFloat})}
	for want, parts := range map[string][]PatchedComposite{
		"field x: NaN":        {{Change: FieldGiven, Value: Float(math.NaN())}},
		"field x is of kind":  {{Change: FieldGiven, Value: String("s")}},
		"0 composites for a":  nil,
		"2 composites for a ": {{}, {}},
	} {
		if got, err := h.UpdateForPatch(parts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Patch(%v) = %v, %v, want an error with %q", parts, got, err, want)
		}
	}
	if pk, err := h.Layout.UpdateForPut(nil); err == nil {
		t.Errorf("Put of no composites: %v", pk)
	}
	if pk, err := h.Layout.UpdateForPut([]Value{Float(math.Inf(1))}); err == nil {
		t.Errorf("Put of an infinity: %v", pk)
	}
}
