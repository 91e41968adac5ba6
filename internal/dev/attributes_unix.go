//go:build unix && !linux

package dev

import "syscall"

// attributes are those of the server's process: Ctrl-C reaches this program alone, which then ends the server. Where
// this program is killed the server goes on: these systems do not end it.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
