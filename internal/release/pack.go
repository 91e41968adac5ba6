package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"
)

// pack writes files to an archive as the platform has it, and returns its name. Only their contents count: all have one
// time, and belong to nobody.
func pack(path string, p platform, at time.Time, files []string) (name string, err error) {
	write, path := writeTar, path+".tar.gz"
	if p.os == "windows" {
		write, path = writeZip, path[:len(path)-len(".tar.gz")]+".zip"
	}
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	err = write(f, at, files)
	return filepath.Base(path), errors.Join(err, f.Close())
}

func writeTar(to io.Writer, at time.Time, files []string) error {
	compressed, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(compressed)
	for i, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		err = archive.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg, Name: filepath.Base(file), Size: int64(len(content)), Mode: int64(mode(i)), ModTime: at,
			Format: tar.FormatUSTAR,
		})
		if err == nil {
			_, err = archive.Write(content)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), compressed.Close())
}

func writeZip(to io.Writer, at time.Time, files []string) error {
	archive := zip.NewWriter(to)
	for i, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		header := &zip.FileHeader{Name: filepath.Base(file), Method: zip.Deflate, Modified: at}
		header.SetMode(mode(i))
		w, err := archive.CreateHeader(header)
		if err == nil {
			_, err = w.Write(content)
		}
		if err != nil {
			return err
		}
	}
	return archive.Close()
}

// mode is that of the file at a place: the command is first.
func mode(i int) os.FileMode {
	if i == 0 {
		return 0o755
	}
	return 0o644
}
