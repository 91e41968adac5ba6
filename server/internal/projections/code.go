package projections

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/foldql/foldql/projection"
)

// CodeChanged says what to do about rows that were begun by other code than the projection has.
func CodeChanged(p *projection.Projection) string {
	models := modelNames(p)
	return fmt.Sprintf("the code of the projectors (package %s) has changed since the rows of %s were begun, and their "+
		"version has not: if it makes other rows, raise 'version' or run 'server rebuild start %s'; if it does not, "+
		"'server rebuild accept %[3]s' says so", strings.Join(p.CodePackages(), ", "), models,
		strings.ReplaceAll(models, ",", ""))
}

// warnOfCode warns, at each start until rows are begun with the present code, though they may not serve yet, or those
// that serve are accepted as its own.
func (s *Set) warnOfCode() {
	if s.keep == nil || s.keep.Off {
		return
	}
	for _, u := range s.units {
		if u.prepared == nil {
			continue
		}
		for i := range u.projections {
			if g := u.prepared.all[i].Serving; g != nil && g.CodeChanged && !u.prepared.renews(i) {
				s.log.Warn(CodeChanged(&u.projections[i]), "projection", u.projections[i].Name)
			}
		}
	}
}

// renews reports whether this program builds rows of a projection that were begun with its present code.
func (s *survey) renews(i int) bool { return s.builds && !s.all[i].Building.CodeChanged }

// AcceptCode has the rows of the projections that change generation with one be those of the present code.
func (s *Set) AcceptCode(ctx context.Context, one *Running) error {
	if one.unit == nil {
		return RefusedError("this server keeps one generation of rows alone")
	}
	one.unit.arranging.Lock()
	defer one.unit.arranging.Unlock()
	for _, p := range one.unit.projections {
		err := projection.AcceptCode(ctx, s.keep.DB, p)
		if errors.Is(err, projection.ErrCopying) {
			return RefusedError(err.Error())
		}
		if err != nil {
			return err
		}
	}
	return nil
}
