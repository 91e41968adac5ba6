package keys

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSeveralRangesAreReadInTheOrderOfTheKeys(t *testing.T) {
	task, member := Range{Op: RangePrefix, Lo: "$c#task_1#"}, Range{Op: RangePrefix, Lo: "$c#member_1#"}
	level, row := Range{Op: RangePrefix, Lo: "$c#"}, Range{Op: RangeEqual, Lo: "$c#task_1"}
	for _, test := range []struct{ given, want []Range }{
		{nil, nil},
		{[]Range{task, member}, []Range{member, task}},
		{[]Range{task, member, task}, []Range{member, task}},
		{[]Range{task, level, member}, []Range{level}},
		{[]Range{task, row}, []Range{row, task}},
		{[]Range{task, {}}, []Range{{}}},
		{[]Range{{Op: RangeAtLeast, Lo: "$c#"}, task, {Op: RangeAtMost, Lo: "$"}}, []Range{{Op: RangeAtMost, Lo: "$"},
			{Op: RangeAtLeast, Lo: "$c#"}}},
	} {
		before := append([]Range(nil), test.given...)
		if diff := cmp.Diff(test.want, SortRanges(test.given...)); diff != "" {
			t.Errorf("Ordered(%v):\n%s", before, diff)
		}
		if diff := cmp.Diff(before, test.given); diff != "" {
			t.Errorf("Ordered changed what it was given:\n%s", diff)
		}
	}
}
