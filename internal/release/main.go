// Release makes what a version of foldql is published as: the command for each platform, in an archive with the
// licence, a list of what is in each (an SBOM of CycloneDX), and the checksums of all.
//
//	go run ./internal/release -version v1.2.3 -dir dist
//
// The checkout must be clean, and at the tag of the version, which is written as v1.2.3 or v1.2.3-rc.1. Of several tags
// of a commit, only the highest can be released: that is what Go has the command say of itself. The same version with
// the same Go makes the same bytes, on whichever machine: so anybody can verify them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run() error {
	r := release{source: ".", platforms: platforms}
	flag.StringVar(&r.version, "version", "", "the version, as its tag is called")
	flag.StringVar(&r.dir, "dir", "dist", "folder to write to; it must not be there yet")
	only := flag.String("platform", "", "one platform, such as linux/amd64; all that are published without it")
	flag.Parse()
	if r.version == "" || flag.NArg() > 0 {
		flag.Usage()
		return errors.New("say which version with -version")
	}
	if *only != "" {
		r.platforms = slices.DeleteFunc(slices.Clone(platforms), func(p platform) bool { return p.os+"/"+p.arch != *only })
		if len(r.platforms) == 0 {
			return fmt.Errorf("foldql is not published for %s", *only)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := r.tagged(ctx); err != nil {
		return err
	}
	return r.make(ctx)
}
