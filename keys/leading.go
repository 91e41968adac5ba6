package keys

// CountLeading returns how many values are present before the first one that is absent: as many composites a partial key can
// be made of.
func CountLeading(vals []Value) int {
	for i := range vals {
		if !vals[i].Present() {
			return i
		}
	}
	return len(vals)
}

// Truncate composes the half of its leading values alone, without closing them: the key of a row that is kept at a
// higher level of its hierarchy, because the composites below are absent. All values make the whole key.
func (l Layout) Truncate(vals ...Value) (string, error) {
	return l.text(vals, openPart)
}
