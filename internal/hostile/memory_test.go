package hostile

import (
	"runtime/metrics"
	"sync"
	"time"
)

// gauge watches how much memory the Go runtime holds: the heap with its garbage, stacks, and what the runtime needs
// itself, without what has been given back to the system.
type gauge struct {
	done chan struct{}
	all  sync.WaitGroup
	most uint64
}

func watch() *gauge {
	g := &gauge{done: make(chan struct{})}
	g.all.Go(func() {
		look := time.NewTicker(2 * time.Millisecond)
		defer look.Stop()
		for {
			g.most = max(g.most, held())
			select {
			case <-look.C:
			case <-g.done:
				return
			}
		}
	})
	return g
}

// peak ends the watch and returns the most that was held, in bytes.
func (g *gauge) peak() uint64 {
	close(g.done)
	g.all.Wait()
	return g.most
}

func held() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() - s[1].Value.Uint64()
}
