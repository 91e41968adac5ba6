package record

// Merge returns a record of n fields: it takes the given fields, ascending ordinals, from over, and the others from
// under. In a nil record all fields are absent.
func Merge(n int, under, over Record, fields []int) Record {
	size, next := 0, 0
	pick := func(i int) []byte {
		from := under
		if next < len(fields) && fields[next] == i {
			from = over
			next++
		}
		if from == nil {
			return nil
		}
		return from.JSON(i)
	}
	for i := range n {
		size += len(pick(i))
	}
	next = 0
	out := makeRecord(n, size)
	body := len(out)
	for i := range n {
		out = append(out, pick(i)...)
		out.setEnd(i, len(out)-body)
	}
	return out
}
