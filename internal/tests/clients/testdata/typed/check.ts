import { type DocumentNode, print } from "graphql";
import type { ResultOf, VariablesOf } from "gql.tada";
import type { TypedDocumentNode } from "@graphql-typed-document-node/core";
import { order } from "./queries.js";
import { invoices } from "./tada-queries.js";

// Same holds where two types are the same.
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <_ extends true>() => {};

type Of<D> = D extends TypedDocumentNode<infer R, infer V> ? { result: R; variables: V } : never;
same<Same<Of<typeof order>["result"]["Sales_Order"], null | {
  orderId: string; total: number; placedAt: string;
  lines: null | { nextToken: string | null; items: Array<{ orderId: string; category: string; productId: string }> };
}>>();
same<Same<Of<typeof order>["variables"]["limit"], number | null | undefined>>();
same<Same<ResultOf<typeof invoices>["Billing_InvoiceByOwnerId"], {
  items: { amount: string; issuedOn: string }[]; nextToken: string | null;
}>>();
same<Same<VariablesOf<typeof invoices>, { owner: string }>>();
// @ts-expect-error a field that is not asked for is no part of the answer
type _ = Of<typeof order>["result"]["Sales_Order"] extends infer O | null ? O["customerId"] : never;

// ask asks the server whose URL is given, and prints the answer.
async function ask(document: unknown, variables: object) {
  const answer = await fetch(`${process.argv[2]}/graphql`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ query: print(document as DocumentNode), variables }),
  });
  console.log(await answer.text());
}

await ask(order, { id: "none" });
await ask(invoices, { owner: "none" });
