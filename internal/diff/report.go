package diff

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// WriteText writes the report for people.
func (r *Report) WriteText(to io.Writer) error {
	var b strings.Builder
	for _, e := range effects {
		r.writeEffect(&b, e)
	}
	if len(r.API) == 0 {
		b.WriteString("The API stays as it is.\n")
	}
	if len(r.Events) > 0 {
		b.WriteString("\nDoes not fit events that a log may have:\n")
	}
	for _, c := range r.Events {
		fmt.Fprintf(&b, "  %s %s\n", c.At, c.What)
	}
	b.WriteString("\nThe rows, at the next start:\n")
	for _, m := range r.Models {
		fmt.Fprintf(&b, "  %s: %s\n", m.Name, startTexts[m.Start])
		for _, why := range m.Why {
			fmt.Fprintf(&b, "    because: %s\n", why)
		}
		for _, takes := range m.Takes {
			fmt.Fprintf(&b, "    takes: %s\n", takes)
		}
	}
	_, err := io.WriteString(to, b.String())
	if err != nil {
		return fmt.Errorf("write what has changed: %w", err)
	}
	return nil
}

var effectTexts = map[Effect]string{
	Breaking: "Breaks clients", Noticeable: "Clients may notice", Compatible: "Breaks nobody",
}

func (r *Report) writeEffect(b *strings.Builder, e Effect) {
	begun := false
	for _, c := range r.API {
		if c.Effect != e {
			continue
		}
		if !begun {
			fmt.Fprintf(b, "%s:\n", effectTexts[e])
			begun = true
		}
		fmt.Fprintf(b, "  %s %s\n", c.At, c.What)
		if c.Clients != "" {
			fmt.Fprintf(b, "    for: %s\n", c.Clients)
		}
	}
}

var startTexts = map[Start]string{
	Nothing: "nothing",
	Indexes: "index build from the rows; on DynamoDB a rebuild from the whole log",
	Rebuild: "rebuild from the whole log, beside the rows that serve",
	First:   "first fold of the whole log; not served before it is complete",
	Unused:  "stay until 'server tables apply --allow-delete' removes them; in DynamoDB, remove the table with AWS",
	Dropped: "dropped by the rebuild of their table; they go with its former rows",
}

// WriteJSON writes the report for programs.
func (r *Report) WriteJSON(to io.Writer) error {
	e := json.NewEncoder(to)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return fmt.Errorf("write what has changed: %w", err)
	}
	return nil
}
