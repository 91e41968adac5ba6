package dynamolocal

import "syscall"

// child has the kernel kill the engine when the thread that began it ends, and keeps Ctrl-C from it: whoever began it
// stops it.
func child() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
