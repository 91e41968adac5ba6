package schema

import "testing"

// TestAGuardIsAtLeastAsStrictAsAnother: whoever it admits is admitted by the other. One side is the index, the other
// the guarded field in it.
func TestAGuardIsAtLeastAsStrictAsAnother(t *testing.T) {
	guards := map[string]*Auth{
		"none": nil, "any caller": {}, "HR": {Groups: []string{"HR"}}, "HR, Admin": {Groups: []string{"Admin", "HR"}},
		"owner": {Owner: true}, "HR or owner": {Groups: []string{"HR"}, Owner: true}, "Staff": {Groups: []string{"Staff"}},
	}
	// By the guard of the field: the guards of an index that are at least as strict.
	want := map[string][]string{
		"none":        {"none", "any caller", "HR", "HR, Admin", "owner", "HR or owner", "Staff"},
		"any caller":  {"any caller", "HR", "HR, Admin", "owner", "HR or owner", "Staff"},
		"HR":          {"HR"},
		"HR, Admin":   {"HR", "HR, Admin"},
		"owner":       {"owner"},
		"HR or owner": {"HR", "owner", "HR or owner"},
		"Staff":       {"Staff"},
	}
	for of, field := range guards {
		strict := map[string]bool{}
		for _, name := range want[of] {
			strict[name] = true
		}
		for name, index := range guards {
			if got := index.AtLeast(field); got != strict[name] {
				t.Errorf("an index for %s holds a field for %s: as strict is %v, want %v", name, of, got, strict[name])
			}
		}
	}
}
