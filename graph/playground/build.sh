#!/bin/sh
# Fetches GraphiQL and its explorer from npm, as pinned by package-lock.json, into assets/, from where the server embeds
# them. Without npm there is nothing to do: a server built so loads the same files from a CDN.
set -eu
cd "$(dirname "$0")"
if ! command -v npm >/dev/null; then
	echo "npm is not installed: the playground will load GraphiQL from a CDN" >&2
	exit 0
fi
npm ci
cp node_modules/react/umd/react.production.min.js \
	node_modules/react-dom/umd/react-dom.production.min.js \
	node_modules/graphiql/graphiql.min.css \
	assets/
cp node_modules/@graphiql/plugin-explorer/dist/index.umd.js assets/explorer.js
cp node_modules/@graphiql/plugin-explorer/dist/style.css assets/explorer.css
cp node_modules/graphiql/graphiql.min.js assets/ # the last: make takes it for all of them
