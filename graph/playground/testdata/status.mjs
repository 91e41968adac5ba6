// Runs ui/status.js in a page that is played: what it shows of each state, and what it does with it.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

const opened = [], listeners = []
let reloads = 0, restarts = 0

class EventSource {
  static CLOSED = 2
  constructor(path) {
    Object.assign(this, { path, readyState: 0 })
    opened.push(this)
  }
  close() { this.readyState = EventSource.CLOSED }
  tell(state) { this.onmessage({ data: JSON.stringify(state) }) }
}
const box = { hidden: true, children: [{ textContent: '' }, { textContent: '' }] }
const document = {
  visibilityState: 'visible',
  getElementById: (id) => (assert.equal(id, 'status'), box),
  addEventListener: (name, listener) => (assert.equal(name, 'visibilitychange'), listeners.push(listener)),
}
const location = { reload: () => reloads++ }
let header = null
const fetch = async () => ({ headers: { get: (name) => (assert.equal(name, 'Foldql-Dev-Status'), header) } })
const script = readFileSync('ui/status.js', 'utf8') + '\nreturn DevelopmentStatus'
const open = () => {
  const DevelopmentStatus = new Function('document', 'EventSource', 'location', 'fetch', script)(
    document, EventSource, location, fetch)
  return new DevelopmentStatus(() => restarts++)
}
const view = (state) => {
  document.visibilityState = state
  listeners.forEach((listener) => listener())
}

// A server that nobody develops names no address, so nothing is asked and nothing shown.
let page = open()
await page.fetch('/graphql', {})
view('hidden')
view('visible')
assert.equal(opened.length, 0)

// One that is developed is followed, once, and only while somebody sees the page.
header = '/dev/status'
await page.fetch('/graphql', {})
await page.fetch('/graphql', {})
assert.deepEqual(opened.map((o) => o.path), ['/dev/status'])
opened[0].tell({ serving: true, starts: 1 })
assert.equal(box.hidden, true)
view('hidden')
assert.equal(opened[0].readyState, EventSource.CLOSED)
view('visible')
assert.equal(opened.length, 2)
opened[1].tell({ serving: true, starts: 1 })
assert.deepEqual([restarts, reloads], [0, 0])

// What is wrong is shown as text; a server that takes the place of another has the schema asked for again.
opened[1].tell({ serving: true, starts: 1, failed: 'build the server', error: '<img src=x onerror=alert(1)>' })
assert.equal(box.hidden, false)
assert.equal(box.children[0].textContent, 'foldql dev: cannot build the server; the former server answers')
assert.equal(box.children[1].textContent, '<img src=x onerror=alert(1)>')
opened[1].tell({ serving: true, starts: 1, failed: 'build the server', error: 'x', doing: 'building the server' })
assert.match(box.children[0].textContent, /; building the server …$/)
opened[1].tell({ serving: false, starts: 1, doing: 'starting the server' })
assert.equal(box.hidden, true)
opened[1].tell({ serving: true, starts: 2 })
opened[1].tell({ serving: true, starts: 2 })
assert.deepEqual([restarts, reloads], [1, 0])

// A page that foldql dev served itself, because there was no server, is loaded again.
page = open()
await page.fetch('/graphql', {})
opened[2].tell({ serving: false, starts: 0, failed: 'generate the code', error: 'x' })
assert.equal(box.children[0].textContent, 'foldql dev: cannot generate the code')
opened[2].tell({ serving: true, starts: 1 })
assert.deepEqual([restarts, reloads], [1, 1])
