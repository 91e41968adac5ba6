package keys

import "strconv"

// entitySep joins the segments of entity and template keys.
const entitySep = "#"

// EntitySchema says how the keys of all entities of a table begin.
type EntitySchema struct {
	Name    string
	Version int
	Casing  Casing // of Name: CasingLower, unless the table says otherwise
	Escape  Escape // of separators in values: EscapeNone where other programs write the table too
}

// EntityKey is a key of an entity type that shares its table with others: its primary key, the key of an index, or that
// of an index which makes it a member of a collection. It makes the layouts that generated code composes keys by:
//
//	                    partition key                sort key
//	primary, index      $schema#v1#type…             $schema#v1#type…
//	isolated            $schema#v1#collection…       $schema#v1#type_1…
//	clustered, nested   $schema#v1#first…            $schema#v1#first#second#type_1…
//
// Each composite follows as "#name_value"; without composites the half is its head alone.
type EntityKey struct {
	Schema     EntitySchema
	Type       string
	Collection []string // the collections that the index is part of, the outermost first; none for a key of its own
	Clustered  bool     // sort keys begin with the names of the collections, so that one range reads all members
	Casing     Casing   // of this key: the index's, else the schema's. The schema's name keeps the schema's
}

// PK returns the layout of the partition key.
func (e EntityKey) PK(composites ...Segment) Layout {
	head := e.Type
	if len(e.Collection) > 0 {
		head = e.Collection[0]
	}
	return e.layout(e.head(head), composites)
}

// SK returns the layout of the sort key.
func (e EntityKey) SK(composites ...Segment) Layout {
	return e.layout(e.memberHead(), composites)
}

// Discriminator tells items of an aggregate apart that are of one type: a name, and the value that they all have.
type Discriminator struct {
	Name  string
	Value Value
}

// Item returns the layout of half a key of the items of an aggregate, in which values stand without their names:
//
//	partition key   $schema#v1#type#value…
//	sort key        $schema#v1#type[#name#value of a discriminator]…#value…
func (e EntityKey) Item(discriminators []Discriminator, composites ...Segment) Layout {
	l := Layout{Head: e.head(e.Type), Sep: entitySep, Casing: e.Casing, Escape: e.Schema.Escape}
	for _, d := range discriminators {
		fixed := l
		fixed.Head += entitySep + e.Casing.Apply(d.Name)
		fixed.Segments = []Segment{{Field: d.Name, Kind: d.Value.kind}}
		if text, err := fixed.Compose(d.Value); err == nil { // any text and any integer has a form
			l.Head = text
		}
	}
	l.Segments = composites
	return l
}

// CollectionRange returns the range of sort keys in which the members of a collection lie, with those of the
// collections inside it; depth counts from 0, the outermost. Members of an isolated collection share no prefix: they
// are all that lies in the partition.
func (e EntityKey) CollectionRange(depth int) Range {
	if !e.Clustered {
		return Range{}
	}
	return Range{Op: RangePrefix, Lo: e.head(e.Collection[:depth+1]...) + entitySep}
}

// memberHead is the head of the sort key.
func (e EntityKey) memberHead() string {
	switch {
	case len(e.Collection) == 0:
		return e.head(e.Type)
	case e.Clustered:
		return e.head(append(e.Collection[:len(e.Collection):len(e.Collection)], e.Type)...) + memberMark
	}
	return e.head(e.Type) + memberMark
}

// memberMark follows the type of a member of a collection; no casing touches it.
const memberMark = "_1"

// head joins the schema and the names that a half begins with.
func (e EntityKey) head(names ...string) string {
	text := "$" + e.Schema.Casing.Apply(e.Schema.Name) + entitySep + "v" + strconv.Itoa(e.Schema.Version)
	for _, name := range names {
		text += entitySep + e.Casing.Apply(name)
	}
	return text
}

func (e EntityKey) layout(head string, composites []Segment) Layout {
	l := Layout{Head: head, Sep: entitySep, Casing: e.Casing, Escape: e.Schema.Escape}
	for _, s := range composites {
		s.Before = e.Casing.Apply(s.Field) + "_"
		l.Segments = append(l.Segments, s)
	}
	return l
}
