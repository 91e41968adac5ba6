package gen

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/foldql/foldql/internal/gen/outfile"
)

// gqlgen resolves all fields of Query in one function, each by closures in variables. Wherever one is called, the
// compiler looks through the whole function for what else is assigned to its variable, so the time that it takes grows
// with the square of the number of queries: a third of the time for 600 queries. Therefore the closures of all fields
// become a function that they share.

// rootClosures is how gqlgen resolves a field of Query: by the FUNCTION, which returns the VALUE where it has failed.
var rootClosures = regexp.MustCompile(strings.NewReplacer("FUNCTION", `(\w+)`, "VALUE", `(graphql\.\w+)`).Replace(
	regexp.QuoteMeta(`			field := field

			innerFunc := func(ctx context.Context, fs *graphql.FieldSet) (res graphql.Marshaler) {
				defer func() {
					if r := recover(); r != nil {
						ec.Error(ctx, ec.Recover(ctx, r))
					}
				}()
				res = FUNCTION(ctx, ec, field)
				if res == VALUE {
					atomic.AddUint32(&fs.Invalids, 1)
				}
				return res
			}

			rrm := func(ctx context.Context) graphql.Marshaler {
				return ec.OperationContext.RootResolverMiddleware(ctx,
					func(ctx context.Context) graphql.Marshaler { return innerFunc(ctx, out) })
			}

			out.Concurrently(i, func(ctx context.Context) graphql.Marshaler { return rrm(innerCtx) })
`)))

// rootFunction is the function that the fields share.
const rootFunction = `
// rootField is how a field of Query is resolved: by resolve, which has failed where it returns that it is invalid.
func rootField(ctx context.Context, ec *executionContext, out *graphql.FieldSet, field graphql.CollectedField,
	resolve func(context.Context, *executionContext, graphql.CollectedField) graphql.Marshaler, invalid graphql.Marshaler,
) func(context.Context) graphql.Marshaler {
	inner := func(ctx context.Context) (res graphql.Marshaler) {
		defer func() {
			if r := recover(); r != nil {
				ec.Error(ctx, ec.Recover(ctx, r))
			}
		}()
		res = resolve(ctx, ec, field)
		if res == invalid {
			atomic.AddUint32(&out.Invalids, 1)
		}
		return res
	}
	return func(context.Context) graphql.Marshaler {
		return ec.OperationContext.RootResolverMiddleware(ctx, inner)
	}
}
`

// shareRootFields has the executor that gqlgen has written resolve the fields of Query by one function. What another
// gqlgen writes in another way stays as it is, and is right.
func shareRootFields() error {
	text, err := os.ReadFile(execFile)
	if err != nil {
		return fmt.Errorf("read the executable schema: %w", err)
	}
	if !rootClosures.Match(text) {
		return nil
	}
	text = rootClosures.ReplaceAll(text, []byte(
		"\t\t\tout.Concurrently(i, rootField(innerCtx, ec, out, field, $1, $2))\n"))
	return outfile.WriteIfChanged(execFile, append(text, rootFunction...))
}
