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
			err.CancellationReasons = append(err.CancellationReasons, types.CancellationReason{Code: &code, Message: &code})
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
		"a bad request":   {api(400, "ValidationException", "x"), final, driver.ErrInvalid, ""},
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
		"a transaction of a large row": {cancelled("None", "ValidationError"), final, driver.ErrInvalid, ""},
		"a transaction of too much under a key": {cancelled("ItemCollectionSizeLimitExceeded"), final, driver.ErrTooLarge,
			""},
		"a transaction of a reason yet unknown": {cancelled("None", "Strange"), final, driver.ErrUnavailable, ""},
		"stale":                                 {fmt.Errorf("%w: x", driver.ErrStale), final, driver.ErrStale, ""},
		"ended":                                 {context.Canceled, final, context.Canceled, ""},
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
				if other != test.class && errors.Is(err, other) {
					t.Errorf("%v is %v too", err, other)
				}
			}
		})
	}
}

// TestWhatDynamoDBRefusesToReadIsNoBadKey: the store checks keys before it asks, and its own refusal stays.
func TestWhatDynamoDBRefusesToReadIsNoBadKey(t *testing.T) {
	refusal := &smithy.GenericAPIError{Code: "ValidationException", Message: "x"}
	err := WrapRead("query", "t", refusal)
	if errors.Is(err, driver.ErrInvalid) || !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
	if err := WrapRead("query", "t", driver.ErrInvalid); !errors.Is(err, driver.ErrInvalid) {
		t.Errorf("got %v, want ErrInvalid", err)
	}
}
