// Appends products and asks for them with each client, with the code of docs/clients.md and without it, at the server
// whose URL is given. It prints what came of that as JSON.
import { ApolloClient, HttpLink, InMemoryCache, gql } from "@apollo/client";
import { Client, cacheExchange, fetchExchange } from "@urql/core";
import { apolloClient } from "./apollo.mjs";
import { append } from "./append.mjs";
import { Positions } from "./positions.mjs";
import { pages } from "./urql-pages.mjs";
import { urqlClient } from "./urql.mjs";

const [url, rounds] = [process.argv[2], Number(process.argv[3])];
const late = process.argv[4] === "late"; // queries are asked twice, and little else is to be seen

const product = `query ($id: ID!) { Sales_Product(id: $id) { productId name } }`;
const list = `query ($category: String!, $limit: Int, $nextToken: String) {
  Sales_ProductByCategory(category: $category, limit: $limit, nextToken: $nextToken) { items { productId } nextToken }
}`;

// apollo and urql make clients in both ways, and ask and list with them.
const apollo = {
  plain: () => new ApolloClient({ link: new HttpLink({ uri: `${url}/graphql` }), cache: new InMemoryCache() }),
  recipe: (positions) => apolloClient(url, positions),
  async name(client, id) {
    const { data } = await client.query({ query: gql(product), variables: { id }, fetchPolicy: "network-only" });
    return data.Sales_Product?.name;
  },
  async list(client, category) {
    const watched = client.watchQuery({ query: gql(list), variables: { category, limit: 2 } });
    const subscription = watched.subscribe(() => {}); // a component that shows the list
    let page = (await watched.refetch()).data.Sales_ProductByCategory;
    while (page.nextToken !== null) {
      page = (await watched.fetchMore({ variables: { nextToken: page.nextToken } })).data.Sales_ProductByCategory;
    }
    subscription.unsubscribe();
    const variables = { category, limit: 10 }; // another limit: still the same list
    return client.readQuery({ query: gql(list), variables }).Sales_ProductByCategory.items;
  },
};

const urql = {
  plain: () => new Client({ url: `${url}/graphql`, exchanges: [cacheExchange, fetchExchange] }),
  recipe: (positions) => urqlClient(url, positions),
  async name(client, id) {
    const { data, error } = await client.query(product, { id }, { requestPolicy: "network-only" });
    if (error) throw error;
    return data.Sales_Product?.name;
  },
  async list(client, category) {
    const items = [];
    for await (const page of pages(client, list, { category, limit: 2 }, (data) => data.Sales_ProductByCategory)) {
      items.push(...page);
    }
    return items;
  },
};

// added is the event of a product whose name is its id.
const added = (id, category) => ({
  id: `added-${id}`,
  source: "/shop/products",
  type: "ProductAdded",
  subject: id,
  data: { productId: id, category, brand: "Acme", name: id, price: 1, addedAt: "2024-01-15T10:30:00Z" },
});

// play does with a client what an application does, and returns how often it missed what was written.
async function play(kind, client) {
  const positions = new Positions();
  const [plain, recipe] = [client.plain(), client.recipe(positions)];
  const missed = { without: 0, with: 0 };
  const misses = async (asking, id) => Number((await client.name(asking, id)) !== id);

  for (let i = 0; i < rounds; i++) {
    const id = `${kind}-${i}`;
    await append(url, added(id, kind), positions);
    missed.without += await misses(plain, id);
    missed.with += await misses(recipe, id);
  }

  if (late) return { missed };

  // As many answers side by side as leave more positions than a query may ask for.
  const last = `${kind}-${rounds - 1}`;
  missed.sideBySide = 0;
  await Promise.all(
    Array.from({ length: 30 }, async (_, i) => {
      const id = `${kind}-beside-${i}`;
      await append(url, added(id, `${kind} beside`), positions);
      missed.sideBySide += await misses(recipe, id);
    }),
  );
  missed.afterOthers = await misses(recipe, last);

  // A position of another log, and one of this.
  positions.wrote("of another log");
  await append(url, added(`${kind}-new`, `${kind} beside`), positions);
  missed.refused = await misses(recipe, `${kind}-new`);
  const kept = positions.list().includes("of another log");

  const listed = (await client.list(recipe, kind)).map((item) => item.productId);
  return { missed, kept, listed };
}

console.log(JSON.stringify({ apollo: await play("apollo", apollo), urql: await play("urql", urql) }));
