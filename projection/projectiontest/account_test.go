package projectiontest

import (
	"encoding/json"
	"fmt"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
)

// What follows is what the generator makes of a read model Account and an event Deposited, and a projector of them.

// Account is a row.
type Account struct {
	Owner   string
	Balance int
}

var accountModel = &querydb.Model{
	Name: "Account", Table: "Account", Version: "1",
	Fields: []querydb.Field{{Name: "owner", Scalar: "ID"}, {Name: "balance", Scalar: "Int"}},
	PK: querydb.Half{
		Layout: keys.Layout{Segments: []keys.Segment{{Field: "owner", Kind: keys.KindString}}},
		Fields: []int{0},
	},
	TTL: -1, CreatedAt: -1, UpdatedAt: -1,
}

// AccountCodec is its codec.
var AccountCodec = &querydb.Codec[Account]{
	Model: accountModel,
	Encode: func(b *record.Builder, a *Account) {
		b.String(a.Owner)
		b.Int(a.Balance)
	},
	Decode: func(rec record.Record, a *Account) error {
		var okOwner, okBalance bool
		a.Owner, okOwner = record.String(rec.JSON(0))
		a.Balance, okBalance = record.Int(rec.JSON(1))
		if !okOwner || !okBalance {
			return fmt.Errorf("not an account: %q", rec)
		}
		return nil
	},
	Value: func(a *Account, field int) keys.Value {
		if field == 0 {
			return keys.String(a.Owner)
		}
		return keys.Int(int64(a.Balance))
	},
	Clone: func(a *Account) Account { return *a },
}

var accounts = &projection.Ops[Account, string, string]{
	Codec:        AccountCodec,
	Key:          func(owner string) (keys.Key, error) { return querydb.KeyOf(AccountCodec, &Account{Owner: owner}) },
	Partition:    func(owner string) (string, error) { return owner, nil },
	SetKeyFields: func(a *Account, owner string) { a.Owner = owner },
}

// Deposited is an event.
type Deposited struct {
	Owner  string `json:"owner"`
	Amount int    `json:"amount"`
}

// deposits adds deposits up.
func deposits(e *eventlog.Event, _ projection.Meta) ([]projection.Op, error) {
	var d Deposited
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return nil, err
	}
	return []projection.Op{accounts.Upsert(d.Owner, Account{}, func(a *Account) { a.Balance += d.Amount })}, nil
}

// ProjectAccount makes a projection of a projector of deposits.
func ProjectAccount(project func(*eventlog.Event, projection.Meta) ([]projection.Op, error)) projection.Projection {
	return projection.New(accounts, projection.Projection{
		Name: "Account", Events: []string{"Deposited"}, Project: project,
	})
}
