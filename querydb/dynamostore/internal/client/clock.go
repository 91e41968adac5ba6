package client

import "github.com/aws/aws-sdk-go-v2/service/dynamodb"

// ByOwnClock is an option of writes: they are signed by the clock of this machine, as it is. AWS takes no signature
// that is older than a few minutes; so a machine that was frozen, and whose clock stood still, writes nothing that is
// past its deadline, which by that clock it is not. Otherwise, the SDK would learn from the refusal how late it is, and
// sign again. Reads are signed as the SDK has it, and go on where the clock is wrong.
func ByOwnClock(o *dynamodb.Options) { o.DisableClockSkewCorrection = true }
