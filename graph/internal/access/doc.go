// Package access says what a caller may read by the rules of the schema: which types, which fields, which rows.
package access
