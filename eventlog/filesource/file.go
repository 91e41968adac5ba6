package filesource

import (
	"bufio"
	"compress/gzip"
	"io"
	"os"
)

// file is a file by its path: complete, plain or gzipped.
type file string

func (f file) open() (io.ReadCloser, error) {
	opened, err := os.Open(string(f))
	if err != nil {
		return nil, err
	}
	text, err := plain(opened)
	if err != nil {
		opened.Close()
		return nil, err
	}
	return readCloser{text, opened}, nil
}

func (f file) progress() progress { return progress{final: true} }
func (f file) close() error       { return nil }

type readCloser struct {
	io.Reader
	io.Closer
}

// plain unpacks what is gzipped, which its first two bytes tell: JSON cannot begin with them.
func plain(r io.Reader) (io.Reader, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	magic, err := b.Peek(2)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if string(magic) == "\x1f\x8b" {
		return gzip.NewReader(b)
	}
	return b, nil
}
