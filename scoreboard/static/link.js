// The stream from the server: one EventSource, watched. A stream that is closed or silent is opened anew; the page learns how the link is.

const SILENT_MS = 2750; // with the tick below a silence is shown within 3 s
const TICK_MS = 250;
const REOPEN_MS = 1000;
const DEAD_MS = 6000; // an open stream that says nothing for this long is given up

export function follow(url, onSection, onLink, onRefused = null) {
  let source = null;
  let heardAt = performance.now();
  let openedAt = 0;
  let why = "waiting";
  let shown = null;

  function show() {
    const now = performance.now() - heardAt > SILENT_MS ? "server" : why;
    if (now !== shown) {
      shown = now;
      onLink(now);
    }
  }

  function open() {
    if (source) source.close();
    openedAt = performance.now();
    source = new EventSource(url);
    for (const section of ["discs", "picture", "match", "ruling", "cards", "clock", "stats", "evidence", "hall"]) {
      source.addEventListener(section, (event) => onSection(section, JSON.parse(event.data)));
    }
    source.addEventListener("link", (event) => {
      heardAt = performance.now();
      why = JSON.parse(event.data).why;
      show();
    });
  }

  open();
  setInterval(() => {
    show();
    const now = performance.now();
    const closed = source.readyState === EventSource.CLOSED && now - openedAt > REOPEN_MS;
    if (closed && onRefused) onRefused();
    if (closed || (now - heardAt > DEAD_MS && now - openedAt > DEAD_MS)) open();
  }, TICK_MS);
  addEventListener("pagehide", () => source.close());
  addEventListener("pageshow", (event) => event.persisted && open());
}
