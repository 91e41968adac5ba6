package execute

import "github.com/vektah/gqlparser/v2/ast"

// response is the answer while it is written: JSON text, and the path of the place that is being written.
type response struct {
	buf   []byte
	steps []step
}

// step is one element of a path: a response key, or, without one, a place in a list.
type step struct {
	key   string
	index int
}

// maxKeptBuffer bounds the memory that an execution keeps for the next one.
const maxKeptBuffer = 1 << 20

// reset keeps the memory that the next answer can use.
func (r *response) reset() {
	if cap(r.buf) > maxKeptBuffer {
		r.buf = nil
	}
	r.buf, r.steps = r.buf[:0], r.steps[:0]
}

func (r *response) enter(key string) { r.steps = append(r.steps, step{key: key}) }
func (r *response) at(index int)     { r.steps = append(r.steps, step{index: index}) }
func (r *response) leave()           { r.steps = r.steps[:len(r.steps)-1] }

// path returns where the answer stands.
func (r *response) path() ast.Path {
	path := make(ast.Path, len(r.steps))
	for i, s := range r.steps {
		if s.key != "" {
			path[i] = ast.PathName(s.key)
		} else {
			path[i] = ast.PathIndex(s.index)
		}
	}
	return path
}
