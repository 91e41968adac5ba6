// Interrupted generates the code of a project, and ends before a change of a file as if it were killed, or tells how
// many there are.
package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/foldql/foldql/internal/gen"
	"github.com/foldql/foldql/internal/gen/outfile"
)

func main() {
	last, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	changes := 0
	outfile.Before = func(path string) {
		if changes++; changes == last {
			fmt.Println(path)
			os.Exit(0)
		}
	}
	if err := gen.Generate(os.Args[1], os.Stderr); err != nil {
		panic(err)
	}
	fmt.Println(changes)
}
