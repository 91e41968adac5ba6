// Runs the GraphQL-over-HTTP audits against the server at the address given and prints one JSON line per audit.
import { auditServer } from 'graphql-http';

for (const { id, name, status, reason } of await auditServer({ url: process.argv[2] })) {
  console.log(JSON.stringify({ id, name, status, reason }));
}
