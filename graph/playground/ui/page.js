// Tabs and history are kept apart for each API that this browser sees at this address.
class Storage {
  constructor(prefix) { this.prefix = prefix + ':' }
  get keys() { return Object.keys(localStorage).filter((k) => k.startsWith(this.prefix)) }
  get length() { return this.keys.length }
  getItem(key) { return localStorage.getItem(this.prefix + key) }
  setItem(key, value) { localStorage.setItem(this.prefix + key, value) }
  removeItem(key) { localStorage.removeItem(this.prefix + key) }
  clear() { this.keys.forEach((k) => localStorage.removeItem(k)) }
}

self.MonacoEnvironment = {
  getWorker: (_, label) => new Worker(config.workers[label] ?? config.workers.editorWorkerService),
}

// Editors show lines that are longer than the pane on several rows; what is sent stays as it is written. On a phone, whose
// width the styles of the page know too, letters are smaller and the text begins further left.
const phone = matchMedia('(max-width: 700px)')
const fit = (editor) => editor.updateOptions({
  wordWrap: 'on', wrappingIndent: 'indent', fontSize: phone.matches ? 13 : 15, folding: !phone.matches,
  lineDecorationsWidth: phone.matches ? 4 : 10,
})
Playground.editor.onDidCreateEditor(fit)
phone.addEventListener('change', () => Playground.editor.getEditors().forEach(fit))

// A link may bring a query, which has a tab of its own beside those that the browser has kept. It is run by a click alone.
const linked = (({ search }) => {
  const asked = new URLSearchParams(search)
  return asked.get('query') ? [{ query: asked.get('query'), variables: asked.get('variables') ?? '' }] : []
})(location)

const root = Playground.createRoot(document.getElementById('graphiql'))
const settings = {
  defaultTabs: [...linked, { query: config.examples }],
  initialQuery: linked[0]?.query,
  initialVariables: linked[0]?.variables,
  defaultQuery: '',
  plugins: [Playground.HISTORY_PLUGIN, Playground.explorerPlugin()],
  storage: new Storage(config.storage),
  shouldPersistHeaders: false,
  inputValueDeprecation: true,
  schemaDescription: true,
}

// render shows GraphiQL. It asks for the schema again each time, because the fetcher is another one.
const render = () => root.render(Playground.createElement(Playground.GraphiQL, {
  ...settings, fetcher: Playground.createGraphiQLFetcher({ url: config.endpoint, fetch: development.fetch }),
}))
const development = new DevelopmentStatus(render)
render()
