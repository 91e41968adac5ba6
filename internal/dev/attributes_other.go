//go:build !unix

package dev

import "syscall"

// attributes are those of the server's process: none.
func attributes() *syscall.SysProcAttr { return nil }
