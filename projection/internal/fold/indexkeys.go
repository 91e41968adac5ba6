package fold

import (
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// indexKeys are the keys that a row has in the indexes, one by slot, whatever the row itself would compose: a partial
// write may leave a half of them behind, or cut one short. Nil are those that the row composes, written whole. They
// are shared by the states of an entry, and are not changed but copied.
type indexKeys []querydb.IndexKey

// indexer composes the index keys of rows.
type indexer struct {
	*rowModel
	slots int                // of Row.Indexes
	said  []keys.FieldChange // see nothingSaid
}

// keysOf is a copy of the keys that the row of an entry has before an op, without those of our own halves where
// exists is false.
func (ix *indexer) keysOf(e *entry, exists bool, at ApplyPoint) (indexKeys, error) {
	if e.indexes == nil && !exists {
		return make(indexKeys, ix.slots), nil
	}
	if e.indexes == nil && e.event != 0 && e.event != at.Event {
		return slices.Clone(indexKeys(e.stored.Indexes)), nil
	}
	if e.indexes == nil {
		composed := make(indexKeys, ix.slots)
		return composed, ix.putAll(composed, e.row)
	}
	own := slices.Clone(e.indexes)
	if !exists {
		for i := range ix.traits.indexes {
			x := &ix.traits.indexes[i]
			for h := range x.halves {
				x.halves[h].lay(keys.HalfUpdate{Op: keys.RemoveKey}, &own[x.slot])
			}
		}
	}
	return own, nil
}

// lay makes the outcome of a write that of the stored key.
func (h *half) lay(o keys.HalfUpdate, k *querydb.IndexKey) {
	if h.sort {
		k.SK, k.HasSK = o.Apply(k.SK, k.HasSK)
	} else {
		k.PK, k.HasPK = o.Apply(k.PK, k.HasPK)
	}
}

// putAll sets our own halves to what the row composes.
func (ix *indexer) putAll(ks indexKeys, row any) error {
	for i := range ix.traits.indexes {
		if err := ix.put(&ix.traits.indexes[i], ks, row); err != nil {
			return err
		}
	}
	return nil
}

// put sets our own halves of the index to what the row composes; what it cannot compose is gone.
func (ix *indexer) put(x *index, ks indexKeys, row any) (err error) {
	var pk, sk keys.HalfUpdate
	for i := range x.halves {
		h, o := &x.halves[i], &pk
		if h.sort {
			o = &sk
		}
		if *o, err = ix.full(h, row); err != nil {
			return err
		}
	}
	if x.together {
		pk, sk = keys.PairUpdates(pk, sk)
	}
	k := &ks[x.slot]
	k.PK, k.HasPK = pk.Apply(k.PK, k.HasPK)
	k.SK, k.HasSK = sk.Apply(k.SK, k.HasSK)
	return nil
}

// full is what a full write of the row does to a half.
func (ix *indexer) full(h *half, row any) (keys.HalfUpdate, error) {
	var few [8]keys.Value
	vals := few[:0]
	for _, field := range h.fields {
		vals = append(vals, ix.codec.Value(row, field))
	}
	return h.Layout.UpdateForPut(vals)
}

// updated are the keys after a full write of a row that was read. The halves that it changed are composed again, as are
// those that are missing beside one of them where the row has both or none. The others stay as they are, also those
// that a patch has cut short: a half that goes takes no other with it.
func (ix *indexer) updated(e *entry, row any, at ApplyPoint) (indexKeys, error) {
	next := e.indexes
	if next == nil && slices.ContainsFunc(ix.traits.indexes, func(x index) bool { return x.together }) {
		var err error // as a row that was written whole has both halves of a key or none, and after this one may have one
		if next, err = ix.keysOf(e, true, at); err != nil {
			return nil, err
		}
	}
	if next == nil {
		return nil, nil
	}
	changed := func(h half) bool {
		return slices.ContainsFunc(h.fields, func(field int) bool {
			return ix.codec.Value(e.row, field) != ix.codec.Value(row, field)
		})
	}
	copied := false
	for i := range ix.traits.indexes {
		x := &ix.traits.indexes[i]
		if !slices.ContainsFunc(x.halves, changed) {
			continue
		}
		if !copied {
			next, copied = slices.Clone(next), true
		}
		k := &next[x.slot]
		for j := range x.halves {
			h := &x.halves[j]
			stored := h.isStored(k)
			if !changed(*h) && (stored || !x.together) {
				continue
			}
			o, err := ix.again(h, e.row, row, stored)
			if err != nil {
				return nil, err
			}
			h.lay(o, k)
		}
	}
	return next, nil
}

// isStored reports whether the stored key has the half.
func (h *half) isStored(k *querydb.IndexKey) bool {
	if h.sort {
		return k.HasSK
	}
	return k.HasPK
}

// again is what a full write of a row that was read does to a half. Where a patch has cut the key short, it is cut
// short again, unless the row has all of it now.
func (ix *indexer) again(h *half, before, row any, stored bool) (keys.HalfUpdate, error) {
	full, err := ix.full(h, row)
	if err != nil || full.Op != keys.RemoveKey || !stored {
		return full, err
	}
	was, err := ix.full(h, before)
	if err != nil || was.Op != keys.RemoveKey {
		return full, err
	}
	parts := make([]keys.PatchedComposite, len(h.fields))
	for i, field := range h.fields {
		v := ix.codec.Value(row, field)
		if !v.Present() {
			break // where patches cut keys short, whatever the row has in the fields behind it
		}
		parts[i] = keys.PatchedComposite{Change: keys.FieldGiven, Value: v}
	}
	short, err := h.UpdateForPatch(parts)
	if err != nil || short.Op != keys.SetKey {
		return full, err
	}
	return short, nil
}

// patched are the keys after a patch, which has made the row what it is and has mentioned fields so.
func (ix *indexer) patched(e *entry, row any, exists bool, said []keys.FieldChange, at ApplyPoint) (indexKeys,
	error) {
	alone := !ix.traits.policy && ix.traits.writer == ""
	if alone && !exists {
		return nil, nil // all halves are composed of the row
	}
	var next indexKeys
	for i := range ix.traits.indexes {
		x := &ix.traits.indexes[i]
		for j := range x.halves {
			h := &x.halves[j]
			if alone && !h.mentioned(said) && !slices.ContainsFunc(h.fields, ix.stamps) {
				continue
			}
			o, err := ix.judge(h, row, said)
			if err != nil {
				return nil, err
			}
			if next == nil {
				if next, err = ix.keysOf(e, exists, at); err != nil {
					return nil, err
				}
			}
			h.lay(o, &next[x.slot])
		}
	}
	if next == nil {
		return e.indexes, nil
	}
	return next, nil
}

func (h *half) mentioned(said []keys.FieldChange) bool {
	return slices.ContainsFunc(h.fields, func(field int) bool { return said[field] != keys.FieldUntouched })
}

// judge is what a patch does to a half. Where there is no policy, the row tells what the patch does not; the row's key
// and the times of its writes are known to every patch. Elsewhere the row fills in the fields of a half that is named:
// as far as the first that has no value, where the key is cut short.
func (ix *indexer) judge(h *half, row any, said []keys.FieldChange) (keys.HalfUpdate, error) {
	var few [8]keys.PatchedComposite
	parts := few[:0]
	fills, given := h.mentioned(said), false
	for i, field := range h.fields {
		p := keys.PatchedComposite{Change: said[field]}
		v := ix.codec.Value(row, field)
		if p.Change == keys.FieldGiven {
			p.Value, given = v, given || v.Present()
		}
		if ix.traits.isKey[field] || !ix.traits.policy || ix.stamps(field) || fills && h.filled[i] {
			p.KeyValue = v
		}
		known := p.Change == keys.FieldGiven && p.Value.Present() ||
			p.Change == keys.FieldUntouched && p.KeyValue.Present()
		fills = fills && known
		parts = append(parts, p)
	}
	o, err := h.UpdateForPatch(parts)
	if h.unique && given && o.Op == keys.KeepKey { // the stored key has what the row has no more
		o.Op = keys.RemoveKey
	}
	return o, err
}

// nothingSaid is a list of mentions by field that holds none, for one patch.
func (ix *indexer) nothingSaid() []keys.FieldChange {
	if ix.said == nil {
		ix.said = make([]keys.FieldChange, len(ix.desc.Fields))
	}
	clear(ix.said)
	return ix.said
}
