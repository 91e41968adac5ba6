//go:build unix && !linux

package dynamolocal

import "syscall"

// child keeps Ctrl-C from the engine: whoever began it stops it. Only Linux can see to it that it ends with a process
// that is killed.
func child() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
