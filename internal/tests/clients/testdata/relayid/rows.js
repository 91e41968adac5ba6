import { graphql } from "relay-runtime";

export const rows = graphql`
  query rowsQuery($player: ID!, $id: ID!) {
    SquadSelectionByPlayer(playerId: $player, first: 9) {
      edges {
        node {
          team {
            id
            name
          }
        }
      }
    }
    Team(id: $id) {
      id
      name
      ...rows_team
    }
    Coach(id: $id) {
      id
      name
    }
  }
`;

export const team = graphql`
  fragment rows_team on Team @refetchable(queryName: "rowsTeamQuery") {
    name
  }
`;
