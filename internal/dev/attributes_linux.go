package dev

import "syscall"

// attributes are those of the server's and the generator's process: Ctrl-C reaches this program alone, which then ends
// the server, and where this program is killed the system ends them.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
