package disk

import "sync"

// leftActs are the acts before whose end Run has returned, and that have not ended since.
type leftActs struct {
	mu    sync.Mutex
	count int
	ended chan error // closed when there are none any more; nil while there are none
}

func (l *leftActs) add(ending <-chan error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count++; l.count == 1 {
		l.ended = make(chan error)
	}
	go func() {
		<-ending
		l.remove()
	}()
}

func (l *leftActs) remove() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count--; l.count == 0 {
		close(l.ended)
		l.ended = nil
	}
}

// over returns a channel that is closed when there are none any more, nil where there are none.
func (l *leftActs) over() <-chan error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}
