// What foldql dev says of the project. Its answers name the address of the states in a header; no other server has it.
class DevelopmentStatus {
  constructor(restarted) {
    this.restarted = restarted
    this.box = document.getElementById('status')
    this.served = undefined // the last state in which a server answered
    this.began = undefined // the first state that this page was told
    document.addEventListener('visibilitychange', () => this.connect())
  }

  // fetch is that of the browser; it notices the address.
  fetch = async (url, options) => {
    const response = await fetch(url, options)
    const path = response.headers.get('Foldql-Dev-Status')
    if (path) {
      this.path = path
      this.connect()
    }
    return response
  }

  // connect reads the states while somebody sees the page: a browser has few connections to a host for all its pages.
  connect() {
    const seen = this.path && document.visibilityState === 'visible'
    if (!seen) {
      this.states?.close()
      this.states = undefined
    } else if (!this.states || this.states.readyState === EventSource.CLOSED) {
      this.states = new EventSource(this.path)
      this.states.onmessage = (message) => this.show(JSON.parse(message.data))
    }
  }

  // show shows what is wrong, as text, and follows a server that another has taken the place of. A page that no server
  // has served yet, but foldql dev itself, has no examples: it is loaded again.
  show(state) {
    this.began ??= state
    if (state.serving && !this.began.serving) return location.reload()
    if (state.serving && this.served !== undefined && this.served !== state.starts) this.restarted()
    if (state.serving) this.served = state.starts
    const [title, detail] = this.box.children
    this.box.hidden = !state.failed
    title.textContent = `foldql dev: cannot ${state.failed}` +
      (state.serving ? '; the former server answers' : '') + (state.doing ? `; ${state.doing} …` : '')
    detail.textContent = state.error ?? ''
  }
}
