package item

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// objectValue turns an object into a map, without its absent fields. kept is as that of FieldValue.
func objectValue(fields []driver.Field, json []byte) (v Value, kept bool, err error) {
	texts := make([][]byte, len(fields))
	if !record.Object(json, texts) {
		return nil, false, fmt.Errorf("%.40s is no object of %d fields", json, len(fields))
	}
	m, kept := make(Item, len(fields)), true
	for i := range fields {
		v, asItIs, err := FieldValue(&fields[i], texts[i])
		if err != nil {
			return nil, false, fmt.Errorf("%s: %w", fields[i].Name, err)
		}
		if kept = kept && asItIs; v != nil {
			m[fields[i].Name] = v
		}
	}
	return &types.AttributeValueMemberM{Value: m}, kept, nil
}

// appendObject appends an object to a record; ok is false where the value is none of that type.
func appendObject(b *record.Builder, fields []driver.Field, v Value) (ok bool) {
	m, ok := v.(*types.AttributeValueMemberM)
	if !ok {
		return false
	}
	b.BeginObject()
	for i := range fields {
		v := m.Value[fields[i].Name]
		if _, null := v.(*types.AttributeValueMemberNULL); v == nil || null {
			b.Null()
		} else if !appendField(b, &fields[i], v) {
			return false
		}
	}
	b.EndObject()
	return true
}
