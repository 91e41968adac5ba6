// Appends products and asks for them with each client, with the code of docs/clients.md and without it, at the server
// whose URL is given. It prints what came of that as JSON.
import { ApolloClient, HttpLink, InMemoryCache, gql } from "@apollo/client";
import { Client, cacheExchange, fetchExchange } from "@urql/core";
import { apolloClient } from "./apollo.mjs";
import { apolloPoll } from "./apollo-poll.mjs";
import { append } from "./append.mjs";
import { graphcacheClient } from "./graphcache.mjs";
import { Positions } from "./positions.mjs";
import { pages } from "./urql-pages.mjs";
import { urqlClient } from "./urql.mjs";
import { urqlPoll } from "./urql-poll.mjs";

const [url, rounds] = [process.argv[2], Number(process.argv[3])];
const rowsAre = process.argv[4]; // "late": queries are asked twice; "never": in vain; little else is to be seen then

const product = `query ($id: ID!) { Sales_Product(id: $id) { productId name } }`;
const list = `query ($category: String!, $limit: Int, $nextToken: String) {
  Sales_ProductByCategory(category: $category, reverse: false, limit: $limit, nextToken: $nextToken) {
    items { productId }
    nextToken
  }
}`;
// the same list, with its arguments in another order
const reordered = `query ($category: String!, $limit: Int) {
  Sales_ProductByCategory(limit: $limit, reverse: false, category: $category) { items { productId } nextToken }
}`;

// apollo and urql make clients in both ways, and ask and list with them.
const apollo = {
  plain: () => new ApolloClient({ link: new HttpLink({ uri: `${url}/graphql` }), cache: new InMemoryCache() }),
  recipe: (positions) => apolloClient(url, positions),
  async name(client, id) {
    const { data } = await client.query({ query: gql(product), variables: { id }, fetchPolicy: "network-only" });
    return data.Sales_Product?.name;
  },
  poll(client, id, changed, pause) {
    const watched = client.watchQuery({
      query: gql(product),
      variables: { id },
      pollInterval: pause,
      notifyOnNetworkStatusChange: false, // it shows what comes, and not that something is on its way
    });
    const subscription = watched.subscribe(({ data }) => data && changed(data));
    return () => subscription.unsubscribe();
  },
  async list(client, category) {
    const watched = client.watchQuery({ query: gql(list), variables: { category, limit: 2 } });
    const subscription = watched.subscribe(() => {}); // a component that shows the list
    let page = (await watched.refetch()).data.Sales_ProductByCategory;
    while (page.nextToken !== null) {
      const next = { variables: { nextToken: page.nextToken } };
      page = (await watched.fetchMore(next)).data.Sales_ProductByCategory;
      await watched.fetchMore(next); // as where somebody scrolls twice: the page is there once
    }
    subscription.unsubscribe();
    const variables = { category, limit: 10 }; // another limit: still the same list
    return client.readQuery({ query: gql(reordered), variables }).Sales_ProductByCategory.items;
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
  poll: (client, id, changed, pause) => urqlPoll(client, product, { id }, changed, pause),
  async list(client, category) {
    const items = [];
    for await (const page of pages(client, list, { category, limit: 2 }, (data) => data.Sales_ProductByCategory)) {
      items.push(...page);
    }
    return items;
  },
};

// graphcache is urql with a cache that keeps each row once: the list is what that has of all pages.
const graphcache = {
  ...urql,
  recipe: (positions) => graphcacheClient(url, positions),
  async list(client, category) {
    for (let variables = { category, limit: 2 }; ; ) {
      const { data, error } = await client.query(list, variables); // a page that is not in the cache is asked for
      if (error) throw error;
      const page = data.Sales_ProductByCategory;
      if (page.nextToken === null) return page.items;
      variables = { ...variables, nextToken: page.nextToken };
    }
  },
};

// renames reports whether a list that is in the client's cache has the new name of a product that was asked for alone.
async function renames(client, kind) {
  const positions = new Positions();
  const asking = client.recipe(positions);
  const id = `${kind}-renamed`;
  const named = `query ($category: String!) { Sales_ProductByCategory(category: $category) { items { productId name } nextToken } }`;
  const variables = { category: `${kind} named` };
  const read = {
    apollo: async () =>
      (await asking.query({ query: gql(named), variables, fetchPolicy: "cache-first" })).data.Sales_ProductByCategory,
    graphcache: async () => (await asking.query(named, variables, { requestPolicy: "cache-first" })).data.Sales_ProductByCategory,
  }[kind];
  await append(url, added(id, variables.category), positions);
  await client.name(asking, id); // which waits until it is there
  const before = (await read()).items.map((item) => item.name);
  const event = { ...added(id, variables.category), id: `renamed-${id}` };
  await append(url, { ...event, data: { ...event.data, name: "another" } }, positions);
  await client.name(asking, id);
  const after = (await read()).items.map((item) => item.name);
  return [...before, ...after];
}

// polls returns the names that a list of several pages has in Apollo Client, and those that it has once somebody else has
// renamed its last product, while the list is polled.
async function polls() {
  const positions = new Positions();
  const client = apolloClient(url, positions);
  const query = gql`query ($category: String!, $limit: Int, $nextToken: String) {
    Sales_ProductByCategory(category: $category, limit: $limit, nextToken: $nextToken) {
      items { productId name }
      nextToken
    }
  }`;
  const [category, ids, of] = ["polled", ["polled-0", "polled-1", "polled-2"], (data) => data.Sales_ProductByCategory];
  for (const id of ids) await append(url, added(id, category), positions);
  const variables = { category, limit: 2 };
  const watched = client.watchQuery({ query, variables });
  const names = (data) => of(data).items.map((item) => item.name);
  let changed = () => {};
  const subscription = watched.subscribe(({ data }) => data && changed(names(data)));
  const first = await watched.refetch();
  await watched.fetchMore({ variables: { nextToken: of(first.data).nextToken } });
  const before = names(client.readQuery({ query, variables }));
  const after = new Promise((resolve) => {
    changed = (now) => JSON.stringify(now) !== JSON.stringify(before) && resolve(now);
  });
  const end = apolloPoll(client, query, variables, of, 10);
  const event = added(ids.at(-1), category);
  await append(url, { ...event, id: "renamed-polled", data: { ...event.data, name: "another" } }, new Positions());
  const came = [before, await after];
  end();
  subscription.unsubscribe();
  return came;
}

// limits returns how many rows a list has after a write, asked for with another limit than before, and how many a
// second page has that is asked for without the first.
async function limits() {
  const positions = new Positions();
  const client = graphcacheClient(url, positions);
  const category = "graphcache limits";
  const ask = async (asking, variables) => {
    const { data, error } = await asking.query(list, { category, ...variables }, { requestPolicy: "network-only" });
    if (error) throw error;
    return data.Sales_ProductByCategory;
  };
  for (let i = 1; i < 4; i++) await append(url, added(`limits-${i}`, category), positions);
  const first = await ask(client, { limit: 2 });
  await append(url, added("limits-0", category), positions);
  const all = await ask(client, { limit: 50 });
  const second = await ask(graphcacheClient(url, new Positions()), { limit: 2, nextToken: first.nextToken });
  return [all.items.length, second.items.length];
}

// lines returns the products of an order, as a client's cache has them after two pages of its lines have come.
async function lines(client, kind) {
  const positions = new Positions();
  const asking = client.recipe(positions);
  const orderId = `${kind}-order`;
  const nested = `query ($orderId: ID!, $limit: Int, $nextToken: String) {
    Sales_Order(id: $orderId) {
      orderId
      lines(limit: $limit, nextToken: $nextToken) { items { orderId category productId } nextToken }
    }
  }`;
  const ask = {
    apollo: (variables, policy) => asking.query({ query: gql(nested), variables, fetchPolicy: policy }),
    graphcache: (variables, policy) => asking.query(nested, variables, { requestPolicy: policy }),
  }[kind];
  const linesOf = ({ data, error }) => {
    if (error) throw error;
    return data.Sales_Order.lines;
  };
  const ordered = ["p0", "p1", "p2"].map((productId) => ({ productId, category: "lines", quantity: 1 }));
  await append(
    url,
    {
      id: orderId,
      source: "/shop/orders",
      type: "OrderPlaced",
      subject: orderId,
      data: { orderId, customerId: "c", customerGroup: "g", lines: ordered, total: 3, placedAt: "2024-01-15T10:30:00Z" },
    },
    positions,
  );
  const { nextToken } = linesOf(await ask({ orderId, limit: 2 }, "network-only"));
  linesOf(await ask({ orderId, limit: 2, nextToken }, "network-only"));
  return linesOf(await ask({ orderId, limit: 2 }, "cache-only")).items.map((item) => item.productId);
}

// added is the event of a product whose name is its id.
const added = (id, category) => ({
  id: `added-${id}`,
  source: "/shop/products",
  type: "ProductAdded",
  subject: id,
  data: { productId: id, category, brand: "Acme", name: id, price: 1, addedAt: "2024-01-15T10:30:00Z" },
});

// codes are those of the errors that a query has failed with.
const codes = ({ errors, graphQLErrors }) => (errors ?? graphQLErrors).map(({ extensions }) => extensions.code);

// watches returns what a client shows of a product, before and after somebody else adds it.
async function watches(client, asking, id) {
  const shown = [];
  await new Promise((resolve, reject) => {
    const end = client.poll(
      asking,
      id,
      ({ Sales_Product: found }) => {
        shown.push(found?.name ?? "nothing yet");
        if (found) {
          end();
          resolve();
        } else {
          append(url, added(id, "watched"), new Positions()).catch(reject);
        }
      },
      10,
    );
  });
  return shown;
}

// play does with a client what an application does, and returns how often it missed what was written.
async function play(kind, client) {
  const positions = new Positions({ strict: rowsAre === "late" });
  const [plain, recipe] = [client.plain(), client.recipe(positions)];
  const missed = { without: 0, with: 0 };
  const misses = async (asking, id) => Number((await client.name(asking, id)) !== id);

  for (let i = 0; i < rounds; i++) {
    const id = `${kind}-${i}`;
    await append(url, added(id, kind), positions);
    missed.without += await misses(plain, id);
    missed.with += await misses(recipe, id);
  }

  if (rowsAre === "late") return { missed };
  if (rowsAre === "never") {
    const strictPositions = new Positions({ strict: true });
    await append(url, added(`${kind}-strict`, kind), strictPositions);
    const strict = await client.name(client.recipe(strictPositions), `${kind}-strict`).then(() => [], codes);
    await append(url, added(`${kind}-more`, kind), positions);
    await misses(recipe, `${kind}-more`);
    return { missed, strict, asks: positions.list().length };
  }

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
  return { missed, kept, listed, watched: await watches(client, recipe, `${kind}-of-another`) };
}

const came = {
  apollo: await play("apollo", apollo),
  urql: await play("urql", urql),
  graphcache: await play("graphcache", graphcache),
};
if (!rowsAre) {
  came.apollo.renamed = await renames(apollo, "apollo");
  came.apollo.polled = await polls();
  came.apollo.lines = await lines(apollo, "apollo");
  came.graphcache.limits = await limits();
  came.graphcache.lines = await lines(graphcache, "graphcache");
  came.graphcache.renamed = await renames(graphcache, "graphcache");
}
console.log(JSON.stringify(came));
