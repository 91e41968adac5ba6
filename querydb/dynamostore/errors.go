package dynamostore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/foldql/foldql/querydb/driver"
)

// retryability is what an error tells of the request that it answers.
type retryability uint8

const (
	final    retryability = iota // sending it again would change nothing
	refused                      // it was not carried out, and may be later: throttled, or in conflict with a transaction
	doubtful                     // it may have been carried out
)

var (
	errUnprocessed = errors.New("DynamoDB left keys unprocessed")
	errUnanswered  = errors.New("DynamoDB did not answer in time")
	errBusy        = errors.New("as many requests as may be are in flight")
	errNoAnswer    = fmt.Errorf("%w: DynamoDB does not answer; it is asked again once a second", driver.ErrSuspended)
	errDamaged     = fmt.Errorf("%w: the item is none that this store wrote", driver.ErrDamaged)
)

// retryabilityOf judges the error of an attempt.
func retryabilityOf(err error) retryability {
	var skewed interface{ RetryableError() bool }
	var api smithy.APIError
	switch {
	case errors.Is(err, errUnprocessed):
		return refused
	case errors.Is(err, errUnanswered):
		return doubtful
	case errors.As(err, &skewed) && skewed.RetryableError():
		return refused // the clock was wrong; the SDK knows by how much now
	case errors.As(err, &api):
		return retryabilityOfAnswer(err, api.ErrorCode())
	case sent(err):
		return doubtful
	}
	return final
}

func retryabilityOfAnswer(err error, code string) retryability {
	var cancelled *types.TransactionCanceledException
	switch {
	case errors.As(err, &cancelled):
		return retryabilityOfTransaction(cancelled)
	case throttles(code) || conflicts(code):
		return refused
	}
	if _, timedOut := retry.DefaultRetryableErrorCodes[code]; timedOut || statusOf(err) >= 500 {
		return doubtful
	}
	return final
}

// retryabilityOfTransaction: a cancelled transaction did nothing, and is worth another try where no item was at fault.
func retryabilityOfTransaction(err *types.TransactionCanceledException) retryability {
	for _, reason := range err.CancellationReasons {
		switch code := reasonCode(&reason); {
		case code == "None" || throttles(code) || conflicts(code):
		default:
			return final
		}
	}
	return refused
}

func reasonCode(r *types.CancellationReason) string {
	if r.Code == nil {
		return "None"
	}
	return *r.Code
}

const conditionFailed = "ConditionalCheckFailed"

func throttles(code string) bool {
	_, is := retry.DefaultThrottleErrorCodes[code]
	return is || code == "ThrottlingError" || code == "ProvisionedThroughputExceeded"
}

func conflicts(code string) bool {
	switch code {
	case "TransactionConflict", "TransactionConflictException", "ReplicatedWriteConflictException":
		return true
	}
	return false
}

// sent reports whether the request may have left: its answer did not come, or not whole.
func sent(err error) bool {
	var send *smithyhttp.RequestSendError
	var response *smithyhttp.ResponseError
	var read *smithy.DeserializationError
	return errors.As(err, &send) || errors.As(err, &response) || errors.As(err, &read)
}

func statusOf(err error) int {
	var response *smithyhttp.ResponseError
	if errors.As(err, &response) {
		return response.HTTPStatusCode()
	}
	return 0
}

// as finds an error of a type.
func as[E error](err error) (found E, is bool) {
	is = errors.As(err, &found)
	return found, is
}

// mapped says what was done to which table, and puts the error in the closed list.
func mapped(op, table string, err error) error {
	if slices.ContainsFunc(plain, func(p error) bool { return errors.Is(err, p) }) {
		return fmt.Errorf("dynamostore: %s %s: %w", op, table, err)
	}
	advice, class := classOf(err)
	return fmt.Errorf("dynamostore: %s %s: %w%s: %w", op, table, class, advice, err)
}

// plain are errors that say already what they are.
var plain = []error{driver.ErrStale, driver.ErrConflict, driver.ErrSuspended, driver.ErrOverBudget, errMoved,
	driver.ErrInvalid, driver.ErrTooLarge, context.Canceled, context.DeadlineExceeded, errDamaged}

const apply = ": run 'server tables apply'"

func classOf(err error) (advice string, class error) {
	var missing *types.ResourceNotFoundException
	var large *types.ItemCollectionSizeLimitExceededException
	var api smithy.APIError
	switch {
	case errors.Is(err, errUnprocessed):
		return "", driver.ErrThrottled
	case errors.As(err, &missing):
		return ": the table is not there" + apply, driver.ErrUnavailable
	case errors.As(err, &large):
		return "", driver.ErrTooLarge
	case !errors.As(err, &api):
		return "", driver.ErrUnavailable
	case retryabilityOf(err) == refused:
		return "", driver.ErrThrottled
	case api.ErrorCode() == "ValidationException":
		return classOfMessage(api.ErrorMessage())
	}
	var cancelled *types.TransactionCanceledException
	if errors.As(err, &cancelled) {
		return classOfReasons(cancelled)
	}
	return "", driver.ErrUnavailable
}

// classOfMessage tells apart what DynamoDB calls a validation error; there is only its text to go by.
func classOfMessage(message string) (advice string, class error) {
	switch {
	case strings.Contains(message, "specified index"):
		return ": an index is not there" + apply, driver.ErrUnavailable
	case strings.Contains(message, "exceeded the maximum allowed size"):
		return "", driver.ErrTooLarge
	}
	return "", driver.ErrInvalid
}

func classOfReasons(err *types.TransactionCanceledException) (advice string, class error) {
	for _, reason := range err.CancellationReasons {
		if reasonCode(&reason) == "ValidationError" && reason.Message != nil {
			return classOfMessage(*reason.Message)
		}
	}
	return "", driver.ErrInvalid
}
