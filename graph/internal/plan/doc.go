// Package plan compiles an operation into what to read and what to write of it, once, and keeps the plans of
// operations.
package plan
