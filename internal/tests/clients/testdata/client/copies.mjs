// Asks for the squads that a player was selected for, with each client that keeps rows by their keys, at the server of
// examples/cricket whose URL is given. It prints the names that their team had then, as each client's cache has them.
import { gql } from "@apollo/client";
import { apolloClient } from "./apollo.mjs";
import { append } from "./append.mjs";
import { graphcacheClient } from "./graphcache.mjs";
import { Positions } from "./positions.mjs";

const [url, playerId] = process.argv.slice(2);
const query = `query ($playerId: ID!) {
  SquadSelectionByPlayer(playerId: $playerId) { items { squadId selectionNumber team { id name } } nextToken }
}`;

const positions = new Positions();
const data = { playerId: "last", firstName: "The", lastName: "Last", role: "BATTER" };
const last = { id: "last", source: "/cricket", type: "PlayerRegistered", subject: "player/last", data };
await append(url, last, positions); // so that queries wait for all before it
const apollo = apolloClient(url, positions);
const graphcache = graphcacheClient(url, positions);
const ask = {
  apollo: (policy) => apollo.query({ query: gql(query), variables: { playerId }, fetchPolicy: policy }),
  graphcache: (policy) => graphcache.query(query, { playerId }, { requestPolicy: policy }),
};

const names = {};
for (const [client, asks] of Object.entries(ask)) {
  await asks("network-only");
  const { data } = await asks("cache-first");
  names[client] = data.SquadSelectionByPlayer.items.map(({ team }) => team.name);
}
console.log(JSON.stringify(names));
