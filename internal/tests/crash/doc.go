// Package crash proves that nothing acknowledged is lost and nothing doubled.
//
// Trials run the real server as a process, two of them on the same tables where the store is DynamoDB, over a log of
// events; kill them and freeze them at random moments; put a proxy before DynamoDB that throttles, fails, cuts, delays
// and repeats requests, and answers queries of indexes with what was true some seconds ago; let the store forget what
// was deleted while a server is frozen, and remove rows that ended two days ago; fold events at which projectors panic
// or end their goroutine; and retry or skip dead letters. At the end every row of every table, every entry of every
// index, the checkpoints and the dead letters must equal a fold of the log in memory. They do so with three projects:
// the shop, the registry of the examples, and the ledger, whose projectors use every op there is, with references,
// cascades by the schema and by request of an event, an aggregate with parts of parts, and time series that go on while
// those who keep them are renamed. Links must be those of the references, and no cascade may be left. What follows
// references is held besides against a fold of its own, package plain, which owes nothing to package projection. The
// ledger has a log with several partitions too, which servers take in different orders, so that a copy is made in one
// while its source changes in another; and one of a crowd, 5,000 cards of one branch, amid whose cascades servers are
// struck. It folds a stream of NATS as well, which goes on and is restarted meanwhile, and to whose servers a third is
// added, of a release that builds every row anew and has its own rows serve when it has caught up.
//
// That trials notice what is wrong is tried out with servers that lack something: the conditions of writes, those of a
// commit on the rows that it copies, the links, or the list of cascades that another server has left. Of the last three
// the first seed found wrong rows, each time of several. Events at which copies meet their sources leave none where
// servers lack nothing.
//
// All the while servers of the ledger are asked for rows and pages. Each answer must be what some prefix of the events
// makes, and none that is shorter than what a server had called durable before, or than all events where one had called
// itself ready. Pages of the embedded store must be of one moment.
//
// Other tests feed a server over HTTP while it is killed, and take the power away from log, fold and embedded store on
// a file system that drops what was not synced.
package crash
