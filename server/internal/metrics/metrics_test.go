package metrics

import (
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// bytesLabel has a label whose bytes are no text.
type bytesLabel struct{}

func (bytesLabel) Describe(to chan<- *prometheus.Desc) { to <- projectionUp }

func (bytesLabel) Collect(to chan<- prometheus.Metric) { gauge(to, projectionUp, 1, "caf\xe9") }

// TestALabelOfAnyBytesEndsNoServer, nor does it take other metrics away.
func TestALabelOfAnyBytesEndsNoServer(t *testing.T) {
	w := httptest.NewRecorder()
	Handler(slog.New(slog.DiscardHandler), bytesLabel{}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if want := "foldql_projection_up{projection=\"caf\uFFFD\"} 1"; !strings.Contains(w.Body.String(), want) {
		t.Errorf("status %d, want %s among:\n%.500s", w.Code, want, w.Body)
	}
}
