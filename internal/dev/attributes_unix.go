//go:build unix && !linux

package dev

import "syscall"

// attributes are those of the server's and the generator's process: Ctrl-C reaches this program alone, which then ends
// the server. Where this program is killed they go on: these systems do not end them.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
