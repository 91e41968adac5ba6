package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/foldql/foldql/querydb/driver"
)

func TestErrorsAreOfTheClosedListAndSayWhatToDo(t *testing.T) {
	api := func(status int, code, message string) error {
		return &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}},
			Err:      &smithy.GenericAPIError{Code: code, Message: message},
		}
	}
	cancelled := func(codes ...string) error {
		err := &types.TransactionCanceledException{}
		for _, code := range codes {
			code, message, _ := strings.Cut(code, ": ")
			reason := types.CancellationReason{Code: &code, Message: &message}
			err.CancellationReasons = append(err.CancellationReasons, reason)
		}
		return err
	}
	tests := map[string]struct {
		err   error
		fate  retryability
		class error
		says  string
	}{
		"too many requests":  {api(400, "ProvisionedThroughputExceededException", ""), refused, driver.ErrThrottled, ""},
		"too fast":           {api(400, "ThrottlingException", ""), refused, driver.ErrThrottled, ""},
		"a transaction runs": {&types.TransactionConflictException{}, refused, driver.ErrThrottled, ""},
		"unprocessed":        {ErrUnprocessed, refused, driver.ErrThrottled, ""},
		"no such table":      {&types.ResourceNotFoundException{}, final, driver.ErrUnavailable, "does not exist"},
		"no such index": {api(400, "ValidationException", "The table does not have the specified index: x"), final,
			driver.ErrUnavailable, "does not exist"},
		"an index in the making": {api(400, "ValidationException",
			"Cannot read from backfilling global secondary index: x"), final, driver.ErrUnavailable, "is being filled"},
		"too large": {api(400, "ValidationException", "Item size to update has exceeded the maximum allowed size"), final,
			driver.ErrTooLarge, ""},
		"an empty key of an index of others": {api(400, "ValidationException",
			"One or more parameter values are not valid. The update expression attempted to update a secondary index key to a "+
				"value that is not supported."), final, driver.ErrUnavailable, "remove that index"},
		"a long key of an index of others": {api(400, "ValidationException", "One or more parameter values were invalid: "+
			"Size limit exceeded for Index Key note Actual Size: 2049 bytes Max Size: 2048 bytes IndexName: ofOthers"), final,
			driver.ErrUnavailable, "remove that index"},
		"a key of another type of an index of others": {api(400, "ValidationException",
			"The update expression attempted to update a secondary index key to unsupported type"), final,
			driver.ErrUnavailable, "another type"},
		"a bad request": {api(400, "ValidationException", "x"), final, driver.ErrUnavailable, ""},
		"another key": {api(400, "ValidationException", "The provided key element does not match the schema"), final,
			driver.ErrTablesNotReady, "another key"},
		"a spoilt item": {api(400, "ValidationException",
			"An operand in the update expression has an incorrect data type"), final, driver.ErrInvalid, ""},
		"too large together": {api(400, "ValidationException", "Collection size of items exceeded, which can also be caused "+
			"by the aggregate size of the items in the transaction exceeding the 4MB limit"), final, driver.ErrTooLarge, ""},
		"a clock that is late": {api(400, "InvalidSignatureException", "Signature expired: 20260101T000000Z is now earlier "+
			"than 20260201T000000Z"), final, driver.ErrUnavailable, "set it right"},
		"a wrong secret": {api(400, "InvalidSignatureException", "The request signature we calculated does not match"), final,
			driver.ErrUnavailable, "unavailable: http response"},
		"no credentials":  {api(400, "UnrecognizedClientException", "x"), final, driver.ErrUnavailable, ""},
		"a server error":  {api(500, "InternalServerError", ""), doubtful, driver.ErrUnavailable, ""},
		"a gateway error": {api(503, "x", ""), doubtful, driver.ErrUnavailable, ""},
		"no connection": {&smithyhttp.RequestSendError{Err: errors.New("x")}, doubtful,
			driver.ErrUnavailable, ""},
		"half an answer": {&smithy.DeserializationError{Err: errors.New("x")}, doubtful,
			driver.ErrUnavailable, ""},
		"no answer":                 {errUnanswered, doubtful, driver.ErrUnavailable, ""},
		"nothing to sign with":      {errors.New("get credentials"), final, driver.ErrUnavailable, ""},
		"a transaction in conflict": {cancelled("None", "TransactionConflict"), refused, driver.ErrThrottled, ""},
		"a transaction throttled":   {cancelled("ThrottlingError", "None"), refused, driver.ErrThrottled, ""},
		"a transaction of an old row": {cancelled("ConditionalCheckFailed", "TransactionConflict"), final,
			driver.ErrInvalid, ""},
		"a transaction of a large row": {cancelled("None",
			"ValidationError: Item size to update has exceeded the maximum allowed size"), final, driver.ErrTooLarge, ""},
		"a transaction that is no fault of a row": {cancelled("None", "ValidationError: x"), final, driver.ErrUnavailable,
			""},
		"a transaction of too much under a key": {cancelled("ItemCollectionSizeLimitExceeded"), final, driver.ErrTooLarge,
			""},
		"a transaction of a reason yet unknown": {cancelled("None", "Strange"), final, driver.ErrUnavailable, ""},
		"stale":                                 {fmt.Errorf("%w: x", driver.ErrStale), final, driver.ErrStale, ""},
		"ended":                                 {context.Canceled, final, context.Canceled, ""},
		"refused before it was sent":            {driver.ErrInvalid, final, driver.ErrInvalid, ""},
		"damaged":                               {driver.ErrDamaged, final, driver.ErrDamaged, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := retryabilityOf(test.err); got != test.fate {
				t.Errorf("its fate is %d, want %d", got, test.fate)
			}
			err := Wrap("query", "T", test.err)
			if !errors.Is(err, test.class) || !strings.Contains(err.Error(), test.says) || !strings.HasPrefix(err.Error(),
				"dynamostore: query T: ") {
				t.Errorf("%v, want %v that says %q", err, test.class, test.says)
			}
			for _, other := range []error{driver.ErrThrottled, driver.ErrInvalid, driver.ErrUnavailable, driver.ErrTooLarge} {
				if !errors.Is(test.class, other) && errors.Is(err, other) {
					t.Errorf("%v is %v too", err, other)
				}
			}
		})
	}
}
