#!/bin/sh
# Writes assets/: GraphiQL and its explorer as package-lock.json pins them, compressed, and the licences of all that is
# in them. The files are committed, so that whoever imports foldql has them without Node.js. A test builds them again.
set -eu
cd "$(dirname "$0")"
here=$PWD
mkdir -p assets
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cp package.json package-lock.json .npmrc "$work"
cd "$work"
npm ci

put() { gzip -9n <"$1" >"$here/assets/$2.gz"; }
put node_modules/react/umd/react.production.min.js react.production.min.js
put node_modules/react-dom/umd/react-dom.production.min.js react-dom.production.min.js
put node_modules/graphiql/graphiql.min.js graphiql.min.js
put node_modules/graphiql/graphiql.min.css graphiql.min.css
put node_modules/@graphiql/plugin-explorer/dist/index.umd.js explorer.js
put node_modules/@graphiql/plugin-explorer/dist/style.css explorer.css

find node_modules -type f \( -iname 'license*' -o -iname 'licence*' \) | LC_ALL=C sort | while read -r file; do
	printf '==== %s\n\n' "${file#node_modules/}"
	cat "$file"
	printf '\n'
done >licenses.txt
put licenses.txt licenses.txt
