package keys

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSeveralRangesAreReadInTheOrderOfTheKeys(t *testing.T) {
	task, member := Range{Op: Prefix, Lo: "$c#task_1#"}, Range{Op: Prefix, Lo: "$c#member_1#"}
	level, row := Range{Op: Prefix, Lo: "$c#"}, Range{Op: Equal, Lo: "$c#task_1"}
	for _, test := range []struct{ given, want []Range }{
		{nil, nil},
		{[]Range{task, member}, []Range{member, task}},
		{[]Range{task, member, task}, []Range{member, task}},
		{[]Range{task, level, member}, []Range{level}},
		{[]Range{task, row}, []Range{row, task}},
		{[]Range{task, {}}, []Range{{}}},
		{[]Range{{Op: AtLeast, Lo: "$c#"}, task, {Op: AtMost, Lo: "$"}}, []Range{{Op: AtMost, Lo: "$"},
			{Op: AtLeast, Lo: "$c#"}}},
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
