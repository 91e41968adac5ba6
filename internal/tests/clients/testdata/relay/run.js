// Asks for the tasks of somebody page by page, as a component does that has usePaginationFragment, and for the first of
// them again; prints the titles that the list has after each page.
import { createOperationDescriptor, fetchQuery, getSingularSelector } from "relay-runtime";
import { relayEnvironment } from "./environment.js";
import { Positions } from "./positions.mjs";
import tasksQuery from "./__generated__/tasksQuery.graphql.js";
import tasksPageQuery from "./__generated__/tasksPageQuery.graphql.js";
import tasksRowQuery from "./__generated__/tasksRowQuery.graphql.js";
import assigned from "./__generated__/tasks_assigned.graphql.js";
import row from "./__generated__/tasks_row.graphql.js";

const environment = relayEnvironment(process.argv[2], new Positions());
const employee = process.argv[3];

// read returns what a fragment has of what it was spread into.
const read = (fragment, parent) => environment.lookup(getSingularSelector(fragment, parent)).data;
const operation = createOperationDescriptor(tasksQuery, { employee });
environment.retain(operation);
const list = () => read(assigned, environment.lookup(operation.fragment).data).TaskByAssignee;

const pages = [];
await fetchQuery(environment, tasksQuery, { employee }).toPromise();
for (;;) {
  const { edges, pageInfo } = list();
  pages.push(edges.map(({ node }) => read(row, node).title));
  if (!pageInfo.hasNextPage) break;
  await fetchQuery(environment, tasksPageQuery, { employee, count: 2, cursor: pageInfo.endCursor }).toPromise();
}
const { node } = await fetchQuery(environment, tasksRowQuery, { id: list().edges[0].node.__id }).toPromise();
const { title, assignee } = read(row, node);
console.log(JSON.stringify({ pages, again: { title, assignee } }));
