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
	errNoAnswer    = fmt.Errorf("%w: DynamoDB does not answer; it is asked again once a second", driver.ErrSuspended)
	errNoTable     = fmt.Errorf("%w: the table does not exist", driver.ErrTablesNotReady)
	errNoIndex     = fmt.Errorf("%w: an index does not exist", driver.ErrTablesNotReady)
	errFilling     = fmt.Errorf("%w: an index is being filled", driver.ErrTablesNotReady)
	errOthersIndex = fmt.Errorf("%w: an index of the table that no model has takes neither an empty text nor a long one "+
		"as its key, and the row has such a text: remove that index with AWS", driver.ErrUnavailable)
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

// WrapRead is Wrap of what was read. The store has checked the key before it asked, so what DynamoDB holds invalid is
// no fault of whoever gave it.
func WrapRead(op, table string, err error) error {
	if _, answered := As[smithy.APIError](err); answered && errors.Is(classOf(err), driver.ErrInvalid) {
		return fmt.Errorf("dynamostore: %s %s: %w: %w", op, table, driver.ErrUnavailable, err)
	}
	return Wrap(op, table, err)
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
	}
	var cancelled *types.TransactionCanceledException
	if errors.As(err, &cancelled) {
		return classOfReasons(cancelled)
	}
	return driver.ErrUnavailable
}

// classOfMessage tells apart what DynamoDB calls a validation error; there is only its text to go by.
func classOfMessage(message string) error {
	switch {
	case strings.Contains(message, "specified index"):
		return errNoIndex
	case strings.Contains(message, "backfilling"):
		return errFilling
	case strings.Contains(message, "exceeded the maximum allowed size"):
		return driver.ErrTooLarge
	case strings.Contains(message, "secondary index key"), strings.Contains(message, "Size limit exceeded"):
		return errOthersIndex // those of models are checked before: the row is as it should be, and has to wait
	}
	return driver.ErrInvalid
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
