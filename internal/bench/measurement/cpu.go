// Package measurement holds what a measurement tells: how durations spread, how much memory and CPU time was used.
package measurement

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// OwnCPU is the CPU time that this process has used, user and system.
func OwnCPU() (time.Duration, error) {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		return 0, fmt.Errorf("read the CPU time of the process: %w", err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano()), nil
}

// footprint is what memory the process holds: what its heap cannot do without, and what the kernel has given it.
type footprint struct{ HeapMB, ResidentMB float64 }

// MeasureMemory collects garbage, and returns what the process holds then, in MiB. It fails where the kernel does not
// tell, as anywhere but on Linux.
func MeasureMemory() (footprint, error) {
	runtime.GC()
	var heap runtime.MemStats
	runtime.ReadMemStats(&heap)
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return footprint{}, err
	}
	fields := strings.Fields(string(statm))
	pages, err := strconv.Atoi(fields[1])
	return footprint{float64(heap.HeapAlloc) / (1 << 20), float64(pages*os.Getpagesize()) / (1 << 20)}, err
}
