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

const root = ReactDOM.createRoot(document.getElementById('graphiql'))
const settings = {
  defaultTabs: [{ query: config.examples }],
  defaultQuery: '',
  plugins: [GraphiQLPluginExplorer.explorerPlugin()],
  storage: new Storage(config.storage),
  shouldPersistHeaders: false,
  inputValueDeprecation: true,
}

// render shows GraphiQL. It asks for the schema again each time, because the fetcher is another one.
const render = () => root.render(React.createElement(GraphiQL, {
  ...settings, fetcher: GraphiQL.createFetcher({ url: config.endpoint, fetch: development.fetch }),
}))
const development = new DevelopmentStatus(render)
render()
