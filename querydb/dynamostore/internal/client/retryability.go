package client

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// retryability says whether the request that an error answers may be retried.
type retryability uint8

const (
	final    retryability = iota // a retry would change nothing
	refused                      // it was not carried out, and may be later: throttled, or in conflict with a transaction
	doubtful                     // it may have been carried out
)

// retryabilityOf classifies the error of an attempt.
func retryabilityOf(err error) retryability {
	var api smithy.APIError
	switch {
	case errors.Is(err, ErrUnprocessed):
		return refused
	case errors.Is(err, errUnanswered):
		return doubtful
	case clockSkewed(err):
		return refused // the clock was wrong; the SDK knows by how much now
	case errors.As(err, &api):
		return retryabilityOfAnswer(err, api.ErrorCode())
	case sent(err):
		return doubtful
	}
	return final
}

// clockSkewed reports whether the SDK will sign by another clock.
func clockSkewed(err error) bool {
	skewed, is := As[interface {
		error
		RetryableError() bool
	}](err)
	return is && skewed.RetryableError()
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
		switch code := ReasonCode(&reason); {
		case code == "None" || throttles(code) || conflicts(code):
		default:
			return final
		}
	}
	return refused
}

// ReasonCode is the code of a reason for which a transaction was cancelled, "None" where it was not for this item.
func ReasonCode(r *types.CancellationReason) string {
	if r.Code == nil {
		return "None"
	}
	return *r.Code
}

// ConditionFailed is the code of a reason for which a transaction was cancelled.
const ConditionFailed = "ConditionalCheckFailed"

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
