//go:build !unix

package dev

import "syscall"

// attributes are those of the server's and the generator's process: none.
func attributes() *syscall.SysProcAttr { return nil }
