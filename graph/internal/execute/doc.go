// Package execute runs a plan: it reads the rows of the root fields, then what they are joined to, one level of the
// answer after the other, and writes the answer from stored JSON.
package execute
