package dynamostore

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/client"
)

// FoldedTables names those that are there of the tables, in any generation, and that a fold has written to. Only the
// Name of a table counts.
func (m *marks) FoldedTables(ctx context.Context, tables []*driver.Table) (list []string, err error) {
	names, err := m.generationsOf(ctx, tables)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		d, err := m.tables.describe(ctx, name)
		if err != nil {
			return nil, client.Wrap("describe", name, err)
		}
		if d == nil || d.TableStatus == types.TableStatusDeleting || d.TableStatus == types.TableStatusCreating {
			continue
		}
		written, err := m.written(ctx, d)
		if err != nil {
			return nil, err
		}
		if written {
			list = append(list, name)
		}
	}
	return list, nil
}

// written reports whether a fold has written to a table, whose key may be of another shape by now.
func (m *marks) written(ctx context.Context, d *live) (bool, error) {
	l, ofTexts := keyLayout(&d.TableDescription)
	if !ofTexts {
		return false, nil
	}
	mark, err := m.markOf(ctx, &l)
	if err != nil || mark != "" {
		return mark != "", err
	}
	return m.folded(ctx, l.Table)
}

// generationsOf names the tables that are there, by their names alone.
func (m *marks) generationsOf(ctx context.Context, tables []*driver.Table) (names []string, err error) {
	in := &dynamodb.ListTablesInput{}
	for {
		var out *dynamodb.ListTablesOutput
		err := m.client.Send(ctx, time.Time{}, func(ctx context.Context, _ bool) (err error) {
			out, err = m.client.API.ListTables(ctx, in)
			return err
		})
		if err != nil {
			return nil, client.Wrap("list tables that begin with", m.prefix, err)
		}
		for _, name := range out.TableNames {
			if isGeneration(name, m.prefix, tables) {
				names = append(names, name)
			}
		}
		if in.ExclusiveStartTableName = out.LastEvaluatedTableName; in.ExclusiveStartTableName == nil {
			return names, nil
		}
	}
}

func isGeneration(name, prefix string, tables []*driver.Table) bool {
	rest, ours := strings.CutPrefix(name, prefix)
	if !ours {
		return false
	}
	for _, t := range tables {
		number, is := strings.CutPrefix(rest, t.Name)
		digits, numbered := strings.CutPrefix(number, ".g")
		if is && (number == "" || numbered && digits != "" && strings.Trim(digits, "0123456789") == "") {
			return true
		}
	}
	return false
}

// denied reports whether the credentials do not allow the request.
func denied(err error) bool {
	var api interface{ ErrorCode() string }
	return errors.As(err, &api) && api.ErrorCode() == "AccessDeniedException"
}
