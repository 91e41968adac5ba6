package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/foldql/foldql/querydb/driver"
)

// Errors of requests, beside those of DynamoDB.
var (
	ErrUnprocessed = errors.New("DynamoDB left keys unprocessed")
	errProgress    = fmt.Errorf("%w, and answered for others", ErrUnprocessed)
	errUnanswered  = errors.New("DynamoDB did not answer in time")
	errBusy        = errors.New("as many requests as may be are in flight")
	errNoAnswer    = fmt.Errorf("%w: DynamoDB does not answer; it is asked again every 2 seconds", driver.ErrSuspended)
	errNoTable     = fmt.Errorf("%w: the table does not exist", driver.ErrTablesNotReady)
	errOtherKey    = fmt.Errorf("%w: the table has another key than the rows", driver.ErrTablesNotReady)
	errNoIndex     = fmt.Errorf("%w: an index does not exist", driver.ErrTablesNotReady)
	errFilling     = fmt.Errorf("%w: an index is being filled", driver.ErrTablesNotReady)
	errClock       = fmt.Errorf("%w: the clock of this machine is wrong: set it right", driver.ErrUnavailable)
	errOthersIndex = fmt.Errorf("%w: an index of the table that no model has takes neither an empty text nor a long one "+
		"as its key, and the row has such a text: remove that index with AWS", driver.ErrUnavailable)
	errOthersType = fmt.Errorf("%w: an index of the table that no model has takes keys of another type than the rows "+
		"have in its attribute: remove that index with AWS", driver.ErrUnavailable)
)

// Unprocessed is the error of a request that is made again for the keys that DynamoDB has left. Where it has answered
// for others, whoever reads them gets on, however slowly.
func Unprocessed(answered int) error {
	if answered > 0 {
		return errProgress
	}
	return ErrUnprocessed
}

// As finds an error of a type.
func As[E error](err error) (found E, is bool) {
	is = errors.As(err, &found)
	return found, is
}

// Wrap says what was done to which table, and makes the error one of those of package driver.
func Wrap(op, table string, err error) error {
	if slices.ContainsFunc(plain, func(p error) bool { return errors.Is(err, p) }) {
		return fmt.Errorf("dynamostore: %s %s: %w", op, table, err)
	}
	return fmt.Errorf("dynamostore: %s %s: %w: %w", op, table, classOf(err), err)
}

// IsRefusedAsInvalid reports whether DynamoDB has answered that the request does not fit the table, as where the table
// has another key.
func IsRefusedAsInvalid(err error) bool {
	api, answered := As[smithy.APIError](err)
	return answered && api.ErrorCode() == "ValidationException"
}

// plain are errors that are in that list already.
var plain = []error{driver.ErrStale, driver.ErrConflict, driver.ErrSuspended, driver.ErrOverBudget,
	driver.ErrInvalid, driver.ErrTooLarge, context.Canceled, context.DeadlineExceeded, driver.ErrDamaged}

func classOf(err error) error {
	var missing *types.ResourceNotFoundException
	var large *types.ItemCollectionSizeLimitExceededException
	var api smithy.APIError
	switch {
	case errors.Is(err, ErrUnprocessed):
		return driver.ErrThrottled
	case errors.As(err, &missing):
		return errNoTable
	case errors.As(err, &large):
		return driver.ErrTooLarge
	case !errors.As(err, &api):
		return driver.ErrUnavailable
	case retryabilityOf(err) == refused:
		return driver.ErrThrottled
	case api.ErrorCode() == "ValidationException":
		return classOfMessage(api.ErrorMessage())
	case saysWrongClock(api):
		return errClock
	}
	var cancelled *types.TransactionCanceledException
	if errors.As(err, &cancelled) {
		return classOfReasons(cancelled)
	}
	return driver.ErrUnavailable
}

// saysWrongClock reports whether DynamoDB has refused the time of a signature. Its code is that of a wrong secret, too.
func saysWrongClock(err smithy.APIError) bool {
	return err.ErrorCode() == "InvalidSignatureException" && (strings.Contains(err.ErrorMessage(), "Signature expired") ||
		strings.Contains(err.ErrorMessage(), "Signature not yet current"))
}

// Parts of messages of DynamoDB: about what is written, and about tables that have another key than what is.
var (
	ofTooMuch = []string{"exceeded the maximum allowed size", "aggregate size of the items in the transaction"}
	ofTheRow  = []string{"Number overflow", "Number underflow", "significant digits", "Nesting Levels have exceeded",
		"operand in the update expression has an incorrect data type",
		"document path provided in the update expression is invalid"}
	ofAnotherKey = []string{"key element does not match the schema", "Type mismatch for key",
		"required keys was not given a value", "number of conditions on the keys is invalid"}
)

// classOfMessage tells apart what DynamoDB calls a validation error; there is only its text to go by. The store checks
// keys and rows before it asks, so what is not known to be about them is no fault of theirs: they are as they should
// be, and have to wait.
func classOfMessage(message string) error {
	says := func(part string) bool { return strings.Contains(message, part) }
	switch {
	case says("specified index"):
		return errNoIndex
	case says("backfilling"):
		return errFilling
	case slices.ContainsFunc(ofTooMuch, says):
		return driver.ErrTooLarge
	case slices.ContainsFunc(ofTheRow, says):
		return driver.ErrInvalid
	case slices.ContainsFunc(ofAnotherKey, says):
		return errOtherKey
	case says("secondary index key to unsupported type"), says("Type mismatch for Index Key"):
		return errOthersType
	case says("secondary index key"), says("Size limit exceeded"):
		return errOthersIndex
	}
	return driver.ErrUnavailable
}

// classOfReasons tells apart why a transaction was cancelled. A reason that is not known is none of the rows: they are
// tried again.
func classOfReasons(err *types.TransactionCanceledException) error {
	for _, reason := range err.CancellationReasons {
		switch ReasonCode(&reason) {
		case "ValidationError":
			return classOfMessage(aws.ToString(reason.Message))
		case "ItemCollectionSizeLimitExceeded":
			return driver.ErrTooLarge
		case "ConditionalCheckFailed": // of a condition that nobody has looked into
			return driver.ErrInvalid
		}
	}
	return driver.ErrUnavailable
}
