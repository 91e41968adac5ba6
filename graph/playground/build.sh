#!/bin/sh
# Writes assets/: GraphiQL and its explorer as package-lock.json pins them, bundled and compressed, and the licences of
# all that is in them. The files are committed, so that whoever imports foldql has them without Node.js. A test builds
# them again.
set -eu
cd "$(dirname "$0")"
here=$PWD
mkdir -p assets
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cp package.json package-lock.json .npmrc bundle.js "$work"
cd "$work"
npm ci

# Styles that modules import are in those that graphiql ships as one file.
bundle() {
	node_modules/.bin/esbuild "$1" --bundle --minify --format=iife --global-name=Playground --target=es2022 \
		--define:process.env.NODE_ENV='"production"' --loader:.css=empty --legal-comments=none --log-level=warning \
		--outfile="$2"
}
put() { gzip -9n <"$1" >"$here/assets/$2.gz"; }
for script in graphiql.js=bundle.js \
	editor.worker.js=node_modules/monaco-editor/esm/vs/editor/editor.worker.js \
	json.worker.js=node_modules/monaco-editor/esm/vs/language/json/json.worker.js \
	graphql.worker.js=node_modules/monaco-graphql/esm/graphql.worker.js; do
	bundle "${script#*=}" "out/${script%%=*}"
	put "out/${script%%=*}" "${script%%=*}"
done

cat node_modules/graphiql/dist/style.css node_modules/@graphiql/plugin-explorer/dist/style.css |
	node_modules/.bin/esbuild --loader=css --minify --legal-comments=none >out/graphiql.css
put out/graphiql.css graphiql.css

find node_modules -type f \( -iname 'license*' -o -iname 'licence*' -o -iname 'thirdpartynotices*' \) \
	-not -path 'node_modules/esbuild/*' -not -path 'node_modules/@esbuild/*' | LC_ALL=C sort | while read -r file; do
	printf '==== %s\n\n' "${file#node_modules/}"
	cat "$file"
	printf '\n'
done >licenses.txt
put licenses.txt licenses.txt
