// Asks for a team, for a coach of the same id, and for the squads of a player of the team, at the server of cricket whose
// URL is given, and for the team again by its global identifier. It prints the names that Relay's store has of them.
import { createOperationDescriptor, fetchQuery, getSingularSelector } from "relay-runtime";
import { append } from "./append.mjs";
import { relayEnvironment } from "./environment.js";
import { Positions } from "./positions.mjs";
import rowsQuery from "./__generated__/rowsQuery.graphql.js";
import rowsTeam from "./__generated__/rows_team.graphql.js";
import rowsTeamQuery from "./__generated__/rowsTeamQuery.graphql.js";

const [url, positions, id] = [process.argv[2], new Positions(), "aus"];
const environment = relayEnvironment(url, positions, "nodeId");
const data = { coachId: id, name: "Pat" };
const coach = { id: "a coach", source: "/cricket", type: "CoachRegistered", subject: `coach/${id}`, data };
await append(url, coach, positions);

const variables = { player: "smith-01", id };
const operation = createOperationDescriptor(rowsQuery, variables);
environment.retain(operation);
await fetchQuery(environment, rowsQuery, variables).toPromise();
const kept = environment.lookup(operation.fragment).data;
const { node } = await fetchQuery(environment, rowsTeamQuery, { nodeId: kept.Team.__id }).toPromise();
const { name: again } = environment.lookup(getSingularSelector(rowsTeam, node)).data;
console.log(
  JSON.stringify({
    squads: kept.SquadSelectionByPlayer.edges.map(({ node: { team } }) => team.name),
    team: kept.Team.name,
    coach: kept.Coach.name,
    again,
  }),
);
