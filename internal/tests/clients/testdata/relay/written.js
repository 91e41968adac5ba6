// Appends products and asks for each at once, with Relay's network as docs/clients.md has it, at the server of the shop
// whose URL is given. It prints how often it missed what was written as JSON.
import { append } from "./append.mjs";
import { relayEnvironment } from "./environment.js";
import { Positions } from "./positions.mjs";

const [url, rounds] = [process.argv[2], Number(process.argv[3])];
const text = `query ($id: ID!) { Sales_Product(id: $id) { name } }`;

// misses appends a product, and reports whether a query does not find it.
async function misses(id, positions, asking) {
  await append(
    url,
    {
      id: `added-${id}`,
      source: "/shop/products",
      type: "ProductAdded",
      subject: id,
      data: { productId: id, category: "relay", brand: "Acme", name: id, price: 1, addedAt: "2024-01-15T10:30:00Z" },
    },
    positions,
  );
  const query = { text, name: "product", operationKind: "query", metadata: {} };
  const { data, errors } = await asking.getNetwork().execute(query, { id }, {}).toPromise();
  if (errors) throw new Error(JSON.stringify(errors));
  return Number(data.Sales_Product?.name !== id);
}

const positions = new Positions();
const recipe = relayEnvironment(url, positions);
const missed = { without: 0, with: 0 };
for (let i = 0; i < rounds; i++) {
  missed.without += await misses(`without-${i}`, new Positions(), relayEnvironment(url, new Positions()));
  missed.with += await misses(`with-${i}`, positions, recipe);
}
positions.wrote("of another log");
missed.refused = await misses("refused", positions, recipe);
console.log(JSON.stringify({ missed, kept: positions.list().includes("of another log") }));
