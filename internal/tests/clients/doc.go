// Package clients executes docs/clients.md: it writes the files of its blocks, and runs them on Node.js, or with Go,
// with the clients that they are for, against a server whose folding it holds up at the moments that matter.
package clients
