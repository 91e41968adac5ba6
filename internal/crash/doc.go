// Package crash proves that nothing acknowledged is lost and nothing doubled.
//
// Trials run the real server as a process, two of them on the same tables where the store is DynamoDB, over a log of
// events; kill them and freeze them at random moments; put a proxy before DynamoDB that throttles, fails, cuts, delays and
// repeats requests; let the store forget what was deleted while a server is frozen; and retry or skip events that were set
// aside. At the end every row of every table, every entry of every index, the checkpoints and what is set aside must equal
// a fold of the log in memory. They do so with three projects: the shop, the registry of the examples, and the ledger, whose
// projectors use every op there is. A trial without conditions on writes shows that differences are found.
//
// Other tests feed a server over HTTP while it is killed, and take the power away from log, fold and embedded store on a
// file system that drops what was not synced.
package crash
