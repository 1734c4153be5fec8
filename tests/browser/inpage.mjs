// What the driver puts into every page before the page's own scripts: it sees what goes to the server and what comes
// back, so that tests wait for answers and frames instead of for a time. Each function is put in as text, so that it may
// use nothing from outside.

/** Requests that take their time on a thread of their own. */
const LONG = [
  'auto_handles',
  'sample',
  'open',
  'open_upload',
  'save',
  'export',
  'fit',
  'take_fit',
  'muscle_place',
  'actor',
  'puppet_demo',
  'actor_upload',
  'pair',
  'take_end',
  'perform_all',
  'recover',
];
const LONG_COMMANDS = ['repair', 'scale', 'bake', 'refit', 'bake_flesh', 'bind_joints', 'take_skin', 'take'];

/** Record what goes over the socket. */
function listen(long, longCommands) {
  /** Requests without an answer yet, by their number, and whether they are long. */
  const open = new Map();
  /** Numbers of drags that frames have answered, newest last. */
  let answered = [];
  let [sent, frames, connections] = [0, 0, 0];
  /** Kinds of requests whose answers are held back, and those answers: a slow server. */
  let [held, waiting] = [null, []];
  const kinds = new Map();
  let socket = null;

  const Native = window.WebSocket;
  class Heard extends Native {
    constructor(...args) {
      super(...args);
      socket = this;
      this.addEventListener('message', (event) => {
        const { data } = event;
        if (typeof data !== 'string') {
          frames += 1;
          const drag = data.byteLength >= 48 ? new DataView(data).getUint32(20, true) : 0;
          if (drag !== 0) answered = [...answered.slice(-200), drag];
          return;
        }
        if (!data.startsWith('{"') || !data.includes('"reply"')) return;
        const message = JSON.parse(data);
        if (message.type !== 'reply') return;
        if (held?.has(kinds.get(message.id)) && event.isTrusted) {
          event.stopImmediatePropagation();
          waiting.push(() => this.dispatchEvent(new MessageEvent('message', { data })));
          return;
        }
        open.delete(message.id);
        kinds.delete(message.id);
      });
      this.addEventListener('open', () => {
        connections += 1;
      });
      this.addEventListener('close', () => {
        open.clear();
        kinds.clear();
      });
    }

    send(text) {
      const message = JSON.parse(text);
      if (message.type !== 'ack') sent += 1;
      if (message.id !== undefined) {
        const isLong =
          long.includes(message.type) ||
          (message.type === 'do' && longCommands.includes(Object.keys(message.command)[0]));
        open.set(message.id, isLong);
        kinds.set(message.id, message.type);
      }
      super.send(text);
    }
  }
  window.WebSocket = Heard;

  return {
    open,
    kinds,
    answered: () => answered,
    sent: () => sent,
    /** A message of the driver itself does not count. */
    forgetOne: () => {
      sent -= 1;
    },
    /** How often the page was connected. */
    connections: () => connections,
    frames: () => frames,
    /** Let answers to requests of these kinds wait. */
    hold: (...types) => {
      held = new Set(types);
    },
    /** Let them come. */
    release: () => {
      held = null;
      for (const come of waiting.splice(0)) come();
    },
    nHeld: () => waiting.length,
    /** Give the page a message now, as if the server had sent it. */
    say: (message) => socket.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(message) })),
  };
}

/** What was drawn last can be read at any time, however far behind the screen is. */
function keepDrawings() {
  const { getContext } = HTMLCanvasElement.prototype;
  HTMLCanvasElement.prototype.getContext = function (kind, options) {
    return getContext.call(this, kind, /webgl/.test(kind) ? { ...options, preserveDrawingBuffer: true } : options);
  };
}

/** Wait for what goes over the socket. */
function waitFor(wire) {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  let nextDrag = 2 ** 31 + Math.floor(Math.random() * 2 ** 29);
  const late = (end, what) => {
    if (performance.now() > end) throw new Error(`${what} did not come`);
  };

  /** Wait until what was asked until now is answered; what is long only if `jobs`. */
  async function answers(jobs, ms = 60_000) {
    const end = performance.now() + ms;
    const asked = [...wire.open.entries()].filter(([, isLong]) => jobs || !isLong).map(([id]) => id);
    while (asked.some((id) => wire.open.has(id))) {
      late(
        end,
        `an answer (${asked
          .filter((id) => wire.open.has(id))
          .map((id) => wire.kinds.get(id))
          .join(', ')})`,
      );
      await new Promise((done) => setTimeout(done, 4));
    }
  }

  /**
   * Wait for a frame that shows everything that was answered until now: a touch that does nothing is answered by one. A frame of
   * another gesture may come in its place, since only the newest is sent: then it is touched again.
   */
  async function shown(ms = 60_000) {
    const end = performance.now() + ms;
    const touches = new Set();
    while (!wire.answered().some((drag) => touches.has(drag))) {
      late(end, 'the frame that shows what was done');
      const drag = nextDrag++;
      touches.add(drag);
      await sinew.ask({ type: 'drag', drag, move: { flesh: { grab: null } } });
      wire.forgetOne();
      const patience = performance.now() + 400;
      while (!wire.answered().includes(drag) && performance.now() < patience)
        await new Promise((done) => setTimeout(done, 4));
    }
  }

  /** Wait until what was done is answered, shown and drawn, what the page did thereupon as well, and the camera rests. */
  async function settled({ jobs = true, ms = 180_000 } = {}) {
    const end = performance.now() + ms;
    // While a clip plays the page always asks for more: then that which was asked before is enough.
    for (let round = 0; round < 3; round += 1) {
      while (!window.sinew?.ready()) {
        late(end, 'a surface');
        await frame();
      }
      await frame();
      await answers(jobs, end - performance.now());
      const before = wire.sent();
      await shown(end - performance.now());
      await frame();
      for (let view = ''; view !== sinew.view().join(); await frame()) {
        late(end, 'rest of the camera');
        view = sinew.view().join();
      }
      if (wire.sent() === before) return;
    }
  }

  return { answers, settled };
}

/** Find elements and see whether clicks reach them. */
function takeAim() {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  /** Elements are named by their `data-testid`; `css:` goes before a selector. */
  const selector = (id) => (id.startsWith('css:') ? id.slice(4) : `[data-testid="${id.replace(/["\\]/g, '\\$&')}"]`);
  const find = (id) => document.querySelector(selector(id));

  // Whether the last click went where it was meant to: recorded before any handler runs, which might remove the element.
  let [meant, isHit] = [null, false];
  addEventListener(
    'click',
    ({ target }) => {
      isHit ||= meant !== null && target.closest(selector(meant)) !== null;
    },
    true,
  );

  /** Middle of an element that can be seen, is at rest for two frames and on top; null if it is not so by now. */
  async function aim(id, ms) {
    const end = performance.now() + ms;
    let why = 'it is not there';
    while (performance.now() < end) {
      const element = find(id);
      if (!element?.getClientRects().length || element.disabled) {
        why = element ? (element.disabled ? 'it is disabled' : 'it is not visible') : 'it is not there';
        await frame();
        continue;
      }
      element.scrollIntoView({ block: 'nearest' });
      const box = element.getBoundingClientRect();
      let still = true;
      for (let k = 0; k < 2 && still; k += 1) {
        await frame();
        const now = find(id) === element && element.isConnected ? element.getBoundingClientRect() : null;
        still = now !== null && ['x', 'y', 'width', 'height'].every((key) => now[key] === box[key]);
      }
      if (!still || element.disabled) {
        why = 'it does not rest';
        continue;
      }
      const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
      const top = document.elementFromPoint(x, y);
      if (
        element.contains(top) ||
        (top?.contains(element) && top !== document.body && top !== document.documentElement)
      )
        return { x, y, box: { x: box.x, y: box.y, width: box.width, height: box.height } };
      why = `it is covered by ${top?.dataset.testid ?? top?.outerHTML.slice(0, 80)}`;
      await frame();
    }
    return { why };
  }

  return {
    aim,
    /** A click is meant for an element; then whether one went there. */
    arm: (id) => {
      [meant, isHit] = [id, false];
    },
    hit: () => isHit,
  };
}

/** All of it as one script. */
export const inPage = `{
  const wire = (${listen})(${JSON.stringify(LONG)}, ${JSON.stringify(LONG_COMMANDS)});
  (${keepDrawings})();
  window.driver = { ...wire, ...(${waitFor})(wire), ...(${takeAim})() };
}`;
