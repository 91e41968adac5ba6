// What the page needs of GraphiQL and its editor, Monaco, in one file: build.sh makes assets/graphiql.js of it.
export { createElement } from 'react'
export { createRoot } from 'react-dom/client'
export { GraphiQL, HISTORY_PLUGIN } from 'graphiql'
export { explorerPlugin } from '@graphiql/plugin-explorer'
export { createGraphiQLFetcher } from '@graphiql/toolkit'
export { editor } from 'monaco-graphql/esm/monaco-editor.js'
