// Runs ui/page.js in a page that is played: how it sets up GraphiQL, its editors and their workers.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

const created = [], resized = [], rendered = [], workers = []
const editor = () => ({ options: {}, updateOptions(options) { Object.assign(this.options, options) } })
const editors = [editor(), editor()]
const Playground = {
  GraphiQL: 'GraphiQL',
  HISTORY_PLUGIN: 'history',
  explorerPlugin: () => 'explorer',
  editor: { onDidCreateEditor: (listener) => created.push(listener), getEditors: () => editors },
  createRoot: (element) => (assert.equal(element, 'graphiql'), { render: (tree) => rendered.push(tree) }),
  createElement: (type, props) => (assert.equal(type, 'GraphiQL'), props),
  createGraphiQLFetcher: (options) => options,
}
const phone = { matches: false, addEventListener: (name, listener) => (assert.equal(name, 'change'), resized.push(listener)) }
const matchMedia = (query) => (assert.equal(query, '(max-width: 700px)'), phone)
const document = { getElementById: (id) => id }
const kept = {}
const localStorage = { getItem: (k) => kept[k] ?? null, setItem: (k, v) => { kept[k] = v } }
class DevelopmentStatus {
  constructor(restarted) { this.restarted = restarted }
  fetch = () => {}
}
class Worker {
  constructor(address) { workers.push(address) }
}
const self = {}
const examples = '# one\n' + 'query Long { ' + 'field '.repeat(50) + '}\n'
const config = {
  endpoint: '/graphql', examples, storage: 'foldql-1',
  workers: { editorWorkerService: '/assets/editor', json: '/assets/json', graphql: '/assets/graphql' },
}
// opened runs the script in a page with this query string.
const opened = (search) => {
  const location = { search }
  const names = { Playground, matchMedia, document, localStorage, location, DevelopmentStatus, Worker, self, config }
  return new Function(...Object.keys(names), readFileSync('ui/page.js', 'utf8') + '\nreturn development')(
    ...Object.values(names))
}
const development = opened('')

// The examples come into the first tab as they are written, and the schema's own description is asked for.
assert.equal(rendered.length, 1)
assert.deepEqual(rendered[0].defaultTabs, [{ query: examples }])
assert.equal(rendered[0].initialQuery, undefined)
assert.equal(rendered[0].schemaDescription, true)
assert.equal(rendered[0].fetcher.url, '/graphql')
rendered[0].storage.setItem('query', 'x')
assert.deepEqual(kept, { 'foldql-1:query': 'x' })

// A server that takes the place of another is asked for its schema, as a fetcher of its own has GraphiQL do.
development.restarted()
assert.equal(rendered.length, 2)
assert.notEqual(rendered[0].fetcher, rendered[1].fetcher)

// Each editor shows long lines on several rows, in smaller letters on a phone, also where the screen is turned.
editors.forEach((e) => created[0](e))
assert.deepEqual(editors.map((e) => [e.options.wordWrap, e.options.fontSize]), [['on', 15], ['on', 15]])
phone.matches = true
resized[0]()
assert.deepEqual(editors.map((e) => [e.options.wordWrap, e.options.fontSize]), [['on', 13], ['on', 13]])

// Workers are those that the page is told; any other is the editor's.
for (const label of ['graphql', 'json', 'editorWorkerService', 'other']) self.MonacoEnvironment.getWorker('', label)
assert.deepEqual(workers, ['/assets/graphql', '/assets/json', '/assets/editor', '/assets/editor'])

// A link opens its query in the first tab, or in another one beside those that are kept, never with the variables of these.
for (const [search, query, variables] of [
  ['?query=%7B%20a%20%7D', '{ a }', ''],
  ['?query=query(%24id:ID!)%7Ba%7D&variables=%7B%22id%22:1%7D', 'query($id:ID!){a}', '{"id":1}'],
]) {
  opened(search)
  const { defaultTabs, initialQuery, initialVariables } = rendered.at(-1)
  assert.deepEqual(defaultTabs, [{ query, variables }, { query: examples }])
  assert.deepEqual([initialQuery, initialVariables], [query, variables])
}
opened('?query=')
assert.deepEqual(rendered.at(-1).defaultTabs, [{ query: examples }])
