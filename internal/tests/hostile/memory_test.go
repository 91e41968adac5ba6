package hostile

import (
	"fmt"
	"os"
	"runtime/metrics"
	"sync"
	"time"
)

// gauge watches how much memory is in use: objects with the garbage among them, the room between them, and stacks; how
// much the runtime holds beside that, to use it again or to give it back to the system in a while; and how much of the
// process is in memory at all, where the system tells: the program itself, and what the store keeps outside of Go's
// memory, too.
type gauge struct {
	done                  chan struct{}
	all                   sync.WaitGroup
	inUse, held, resident uint64 // the most so far, in bytes
}

func watch() *gauge {
	g := &gauge{done: make(chan struct{})}
	g.all.Go(func() {
		look := time.NewTicker(2 * time.Millisecond)
		defer look.Stop()
		for {
			g.read()
			select {
			case <-look.C:
			case <-g.done:
				return
			}
		}
	})
	return g
}

// stop ends the watch.
func (g *gauge) stop() {
	close(g.done)
	g.all.Wait()
}

func (g *gauge) read() {
	s := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/stacks:bytes"}, {Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(s)
	value := func(i int) uint64 { return s[i].Value.Uint64() }
	g.inUse = max(g.inUse, value(0)+value(1)+value(2))
	g.held = max(g.held, value(3)-value(4))
	g.resident = max(g.resident, resident())
}

// resident is how much of the process is in memory, 0 where the system does not tell.
func resident() (bytes uint64) {
	var size, pages uint64
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		if _, err := fmt.Sscan(string(text), &size, &pages); err == nil {
			return pages * uint64(os.Getpagesize())
		}
	}
	return 0
}
