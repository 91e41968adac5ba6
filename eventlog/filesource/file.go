package filesource

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"strings"
)

// file is a file by its path: complete, plain or gzipped.
type file string

func (f file) open() (io.ReadCloser, error) {
	opened, err := os.Open(string(f))
	if err != nil {
		return nil, err
	}
	text, err := f.read(opened)
	if err != nil {
		opened.Close()
		return nil, err
	}
	return readCloser{text, opened}, nil
}

// read returns the text of the file. An empty one cannot be gzipped: it was cut, and would be read as no events.
func (f file) read(opened *os.File) (io.Reader, error) {
	if strings.HasSuffix(string(f), ".gz") {
		if info, err := opened.Stat(); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
			return nil, errors.New("it is empty, which no gzipped file is: copy it again, whole")
		}
	}
	return plain(opened)
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
