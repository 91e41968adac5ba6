package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func TestNamesOfOperationsAreBounded(t *testing.T) {
	o := newOperations()
	for i := range 3 * mostNames {
		o.named(fmt.Sprintf("Operation%d", i)).requests.Inc()
	}
	o.named(strings.Repeat("x", longName+1)).requests.Inc()
	o.named("").requests.Inc()
	registry := prometheus.NewRegistry()
	registry.MustRegister(o)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if n := len(f.Metric); n > mostNames+1 {
			t.Errorf("%s tells %d names apart, want %d at most", f.GetName(), n, mostNames+1)
		}
	}
	if o.named("Operation599") != o.named(otherName) {
		t.Error("a name beyond the bound is not counted with the others")
	}
}
