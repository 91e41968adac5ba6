// Package tutorial executes docs/tutorial.md as a reader would, block by block, in a temporary folder: it runs the
// commands, writes the files, starts the server, asks the queries and compares the answers. A block that it does not
// know how to execute fails the test.
package tutorial
