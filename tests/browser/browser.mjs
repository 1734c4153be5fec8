// A browser driven over its debugging protocol, no more of it than a user has: a mouse, keys, eyes, files dropped.
// Playwright listens to every frame of a WebSocket, which drowns a page that streams vertices; this does not.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cookiesFor } from './cookies.mjs';
import { inPage } from './inpage.mjs';

const tools = process.env.SINEW_TOOLS;
const { WebSocket } = createRequire(join(tools, 'npm', 'package.json'))('ws');

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

const FLAGS = [
  '--headless=new',
  '--no-sandbox',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  '--no-first-run',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-extensions',
  '--remote-debugging-port=0',
  '--hide-scrollbars',
  'about:blank',
];

/** Remove the folder of a browser that was killed: its helper processes end a little later, and write to it until then. */
async function remove(folder) {
  for (let k = 0; ; k += 1) {
    try {
      return rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      if (k === 100) throw error;
      await sleep(50);
    }
  }
}

/** Start a browser with an empty profile, and flags of its own. */
export async function launch(flags = []) {
  const profile = mkdtempSync(join(tmpdir(), 'sinew-chromium-'));
  const program = process.env.SINEW_CHROMIUM ?? 'chromium';
  const child = spawn(program, [`--user-data-dir=${profile}`, ...flags, ...FLAGS], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const address = await new Promise((found, fail) => {
    let text = '';
    child.stderr.on('data', (data) => {
      text += data;
      const match = /DevTools listening on (ws:\S+)/.exec(text);
      if (match) found(match[1]);
    });
    child.on('exit', () => fail(new Error(`${program} ended: ${text.slice(-2000)}`)));
    child.on('error', fail);
  });
  const connection = await connect(address);
  const close = async () => {
    connection.socket.close();
    const ended = new Promise((done) => child.once('exit', done));
    child.kill('SIGKILL');
    await ended;
    await remove(profile);
  };
  /** Seconds of processor time that all its processes have used. */
  const cpu = async () => {
    const { processInfo } = await connection.send('SystemInfo.getProcessInfo');
    return processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
  };
  return { open: (url, size) => openPage(connection, url, size), cpu, close };
}

function connect(address) {
  const socket = new WebSocket(address, { maxPayload: 1 << 28 });
  const waiting = new Map();
  const listeners = [];
  let last = 0;
  socket.on('message', (data) => {
    const message = JSON.parse(data);
    const wait = waiting.get(message.id);
    if (!wait) return listeners.forEach((listen) => listen(message));
    waiting.delete(message.id);
    if (message.error) wait.fail(new Error(`${wait.method}: ${message.error.message}`));
    else wait.done(message.result);
  });
  const send = (method, params = {}, sessionId) =>
    new Promise((done, fail) => {
      waiting.set(++last, { done, fail, method });
      socket.send(JSON.stringify({ id: last, method, params, sessionId }));
    });
  return new Promise((done, fail) => {
    socket.on('open', () => done({ send, listeners, socket }));
    socket.on('error', fail);
  });
}

async function openPage({ send, listeners }, url, { width = 1280, height = 720, scale = 1, storage = {} } = {}) {
  const { browserContextId } = await send('Target.createBrowserContext');
  const { targetId } = await send('Target.createTarget', { url: 'about:blank', browserContextId });
  const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
  const ask = (method, params) => send(method, params, sessionId);
  const page = new Page(ask, browserContextId, send);
  listeners.push((message) => message.sessionId === sessionId && page.hear(message));
  listeners.push((message) => page.overhear(message));
  await ask('Page.enable');
  await ask('Runtime.enable');
  await page.resize(width, height, scale);
  await ask('Page.addScriptToEvaluateOnNewDocument', { source: inPage });
  const stored = JSON.stringify(storage);
  const source = `for (const [k, v] of Object.entries(${stored})) localStorage.getItem(k) ?? localStorage.setItem(k, v);`;
  await ask('Page.addScriptToEvaluateOnNewDocument', { source });
  await send('Storage.setCookies', { cookies: cookiesFor(url), browserContextId });
  await page.go(url);
  return page;
}

const KEYS = {
  Enter: 13,
  Escape: 27,
  Space: 32,
  Delete: 46,
  Home: 36,
  Tab: 9,
  ArrowLeft: 37,
  ArrowRight: 39,
  ArrowUp: 38,
  ArrowDown: 40,
  End: 35,
  Backspace: 8,
};

/** One tab. */
class Page {
  constructor(ask, context, send) {
    Object.assign(this, { ask, context, send, faults: [], at: { x: 0, y: 0 } });
  }

  hear({ method, params }) {
    if (method === 'Runtime.exceptionThrown') {
      this.faults.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    }
    const isBad = method === 'Runtime.consoleAPICalled' && params.type === 'error';
    if (isBad) this.faults.push(params.args.map((arg) => arg.value ?? arg.description).join(' '));
    if (method === 'Page.javascriptDialogOpening') this.ask('Page.handleJavaScriptDialog', { accept: true });
  }

  /** Note the address of everything that the page and its workers ask for. */
  async watchRequests() {
    this.requests = [];
    this.sessions = new Set();
    await this.ask('Network.enable');
    await this.ask('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true });
  }

  /** What workers do, which have sessions of their own. */
  overhear({ method, params }) {
    if (!this.requests) return;
    if (method === 'Target.attachedToTarget') {
      this.sessions.add(params.sessionId);
      const ask = (name) => this.send(name, {}, params.sessionId).catch(() => {});
      void ask('Network.enable').then(() => ask('Runtime.runIfWaitingForDebugger'));
    }
    if (method === 'Network.requestWillBeSent') this.requests.push(params.request.url);
  }

  /** Allow or refuse the camera, as the user would. */
  async permitCamera(setting) {
    const origin = new URL(await this.value('location.href')).origin;
    await this.send('Browser.setPermission', {
      permission: { name: 'camera' },
      setting,
      origin,
      browserContextId: this.context,
    });
  }

  async go(url) {
    await this.ask('Page.navigate', { url });
    await this.until('window.sinew?.ready()', 60_000);
    await this.settle();
  }

  async resize(width, height, scale = 1) {
    const size = { width, height, deviceScaleFactor: scale, mobile: false };
    await this.ask('Emulation.setDeviceMetricsOverride', size);
    await this.until(`innerWidth === ${width} && innerHeight === ${height}`);
  }

  /** The value of an expression in the page, awaited. */
  async value(expression) {
    const options = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await this.ask('Runtime.evaluate', options);
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Wait until something is so, however slow the machine is; what never comes true fails after two minutes. */
  async until(expression, ms = 120_000) {
    const end = Date.now() + ms;
    while (!(await this.value(`Boolean(${expression})`).catch(() => false))) {
      if (Date.now() > end) throw new Error(`never came true within ${ms} ms: ${expression}`);
      await sleep(25);
    }
  }

  /** Wait until what was done so far is answered, shown and drawn, and the camera rests. */
  async settle(options = {}) {
    await this.value(`driver.settled(${JSON.stringify(options)})`);
  }

  /** Wait until the picture is drawn with all of its pixels: one that moves is drawn with fewer, and sharpens at rest. */
  async sharp() {
    await this.settle();
    await this.value(`(async () => {
      const canvas = document.querySelector('canvas[data-testid="viewport"]');
      const frame = () => new Promise((done) => requestAnimationFrame(done));
      const end = performance.now() + 180000;
      for (let still = 0, draws = -1; still < 3; ) {
        await frame();
        const isSharp = Math.abs(canvas.width - canvas.clientWidth * Math.min(devicePixelRatio, 2)) < 2;
        still = isSharp && draws === sinewStats.draws ? still + 1 : 0;
        draws = sinewStats.draws;
        if (performance.now() > end) throw new Error('the picture never became sharp');
      }
    })()`);
  }

  /** Middle of an element, which must be visible, enabled, at rest and on top. */
  async place(id, ms = 60_000) {
    const place = await this.value(`driver.aim(${JSON.stringify(id)}, ${ms})`);
    if (place.why) throw new Error(`${id} cannot be clicked: ${place.why}`);
    return place;
  }

  /** Press the button of the open dialog that says so. */
  async press(label) {
    const find = `[...document.querySelectorAll('dialog[open] footer button')].find((b) => b.textContent.trim() === ${JSON.stringify(label)})`;
    await this.until(`${find}?.getClientRects().length`);
    await this.click(`css:dialog[open] footer [data-testid="${await this.value(`${find}.dataset.testid`)}"]`);
  }

  /** Every panel with its workspace. */
  panels() {
    return this.value(`sinew.panels()`);
  }

  /** Bring a panel to the front, as a user does: its workspace first, then its tab. */
  async panel(id) {
    const tab = `Boolean(document.querySelector('[data-testid="tab-${id}"]'))`;
    if (!(await this.value(tab))) await this.click(`workspace-${(await this.panels())[id]}`);
    await this.click(`tab-${id}`);
  }

  has(id) {
    return this.value(`Boolean(document.querySelector('[data-testid="${CSS_escape(id)}"]')?.getClientRects().length)`);
  }

  text(id) {
    return this.value(`document.querySelector('[data-testid="${CSS_escape(id)}"]')?.textContent ?? null`);
  }

  async mouse(type, { x, y }, { button = 'left', modifiers = 0, held = type !== 'mouseReleased' } = {}) {
    const buttons = { left: 1, right: 2, middle: 4 }[button];
    const options = { type, x, y, modifiers, clickCount: 1, pointerType: 'mouse' };
    if (type === 'mouseMoved')
      await this.ask('Input.dispatchMouseEvent', {
        ...options,
        button: held ? button : 'none',
        buttons: held ? buttons : 0,
      });
    else
      await this.ask('Input.dispatchMouseEvent', {
        ...options,
        button,
        buttons: type === 'mousePressed' ? buttons : 0,
      });
    this.at = { x, y };
  }

  /**
   * Click a place, or an element as soon as it can be clicked. A panel that is built again while the button is down
   * would swallow the click, for users as well: that is a fault of the page.
   */
  async click(target, options = {}) {
    const place = typeof target === 'string' ? await this.place(target) : target;
    await this.mouse('mouseMoved', place, { held: false });
    await this.value(`driver.arm(${typeof target === 'string' ? JSON.stringify(target) : 'null'})`);
    await this.mouse('mousePressed', place, options);
    await this.mouse('mouseReleased', place, options);
    const isLost =
      typeof target === 'string' && (options.button ?? 'left') === 'left' && !(await this.value('driver.hit()'));
    if (isLost) throw new Error(`the click on ${target} was swallowed`);
  }

  async doubleClick(target) {
    const place = typeof target === 'string' ? await this.place(target) : target;
    for (const clickCount of [1, 2]) {
      for (const type of ['mousePressed', 'mouseReleased']) {
        await this.ask('Input.dispatchMouseEvent', {
          type,
          x: place.x,
          y: place.y,
          button: 'left',
          clickCount,
          buttons: 1,
        });
      }
    }
  }

  /**
   * Press, move through points in steps as a user does, release. Users wait until what they pressed follows: moves begin
   * when the server has answered what was pressed. `pause` is the time between moves, for measurements.
   */
  async drag(points, { steps = 12, pause = 0, ...options } = {}) {
    const [first, ...rest] = points;
    await this.mouse('mouseMoved', first, { held: false });
    await this.mouse('mousePressed', first, options);
    await this.value('driver.answers(false)');
    let from = first;
    for (const to of rest) {
      for (let k = 1; k <= steps; k += 1) {
        const share = k / steps;
        await this.mouse(
          'mouseMoved',
          { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share },
          options,
        );
        if (pause > 0) await sleep(pause);
      }
      from = to;
    }
    await this.mouse('mouseReleased', from, options);
  }

  async move(place) {
    await this.mouse('mouseMoved', place, { held: false });
  }

  /** A key, with `Ctrl+` and `Shift+` before it as on a menu. */
  async key(name) {
    const parts = name.split('+');
    const key = parts.pop();
    const modifiers =
      (parts.includes('Alt') ? 1 : 0) + (parts.includes('Ctrl') ? 2 : 0) + (parts.includes('Shift') ? 8 : 0);
    const isText = key.length === 1;
    const code = isText
      ? /[0-9]/.test(key)
        ? `Digit${key}`
        : /[a-z]/i.test(key)
          ? `Key${key.toUpperCase()}`
          : ''
      : key;
    const number = KEYS[key] ?? key.toUpperCase().charCodeAt(0);
    const name_ = key === 'Space' ? ' ' : parts.includes('Shift') && isText ? key.toUpperCase() : key;
    const event = { key: name_, code, modifiers, windowsVirtualKeyCode: number };
    // Without its character, Enter would not send a form.
    const text =
      key === 'Enter'
        ? { text: '\r' }
        : (isText || key === 'Space') && !parts.includes('Ctrl') && !parts.includes('Alt')
          ? { text: name_ }
          : {};
    await this.ask('Input.dispatchKeyEvent', {
      type: Object.keys(text).length ? 'keyDown' : 'rawKeyDown',
      ...event,
      ...text,
    });
    await this.ask('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
  }

  /** Put a text into a field, as typed. What is still on its way may build the field again, so that is waited for. */
  async type(id, text) {
    await this.place(id);
    await this.settle({ jobs: false });
    await this.click(id);
    const field = `document.activeElement?.dataset.testid === ${JSON.stringify(id)}`;
    if (!(await this.value(field))) throw new Error(`${id} lost the keys before anything was typed`);
    await this.key('Ctrl+a');
    await this.ask('Input.insertText', { text: String(text) });
    const typed = await this.value(`${field} ? document.activeElement.value : null`);
    if (typed !== String(text))
      throw new Error(`${id} has ${JSON.stringify(typed)}, not ${JSON.stringify(text)} that was typed`);
    await this.key('Enter');
  }

  /** Drop files on the window. */
  async drop(files) {
    const list = files.map(({ name, bytes }) => ({ name, base64: Buffer.from(bytes).toString('base64') }));
    await this.value(`(() => {
      const transfer = new DataTransfer();
      for (const { name, base64 } of ${JSON.stringify(list)}) {
        transfer.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name));
      }
      for (const type of ['dragenter', 'dragover', 'drop']) {
        document.body.dispatchEvent(new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true }));
      }
    })()`);
  }

  /** Drop a file or a folder of the disk on the window, as from a file manager. */
  async dropPath(path) {
    const data = { items: [], files: [path], dragOperationsMask: 1 };
    for (const type of ['dragEnter', 'dragOver', 'drop']) {
      await this.ask('Input.dispatchDragEvent', { type, x: 600, y: 300, data });
    }
  }

  /**
   * What is drawn of the surface in a part of the page, on black: `red`, `green` and `blue` of every pixel, 0..255, in a
   * row. Read from the canvas itself: the screen may lag behind it by seconds, and rounds gradients now up, now down.
   */
  async pixels({ x, y, width, height }) {
    await this.sharp();
    return this.value(`(() => {
      const canvas = document.querySelector('canvas[data-testid="viewport"]');
      const { left, top, width, height } = canvas.getBoundingClientRect();
      const context = new OffscreenCanvas(width, height).getContext('2d');
      context.fillRect(0, 0, width, height);
      context.drawImage(canvas, 0, 0, width, height);
      const { data } = context.getImageData(Math.round(${x} - left), Math.round(${y} - top), ${Math.round(width)}, ${Math.round(height)});
      return Array.from({ length: data.length / 4 }, (_, i) => [data[4 * i], data[4 * i + 1], data[4 * i + 2]]);
    })()`);
  }

  async downloads(folder) {
    await this.send('Browser.setDownloadBehavior', {
      behavior: 'allow',
      downloadPath: folder,
      browserContextId: this.context,
    });
  }

  async screenshot(path) {
    const { data } = await this.ask('Page.captureScreenshot', { format: 'png' });
    writeFileSync(path, Buffer.from(data, 'base64'));
  }

  close() {
    return this.send('Target.disposeBrowserContext', { browserContextId: this.context });
  }
}

const CSS_escape = (id) => id.replace(/["\\]/g, '\\$&');

export const read = (path) => readFileSync(path);
