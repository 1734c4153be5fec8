// The rules panel: the text, what is wrong with it, how well each line holds, and what surrounds the skeleton.
import { ask, run, store } from '../app';
import { showShape } from '../display';
import type { Fault, Marker, RulePlane, Vec3 } from '../net/protocol';
import type { Player } from '../player';
import { addLine, change, freeName, hasRig, rules, TEMPLATES, writing } from '../ruling';
import { h, whenChanged } from '../ui/dom';
import { AXES, iconButton, lengthField, selectField } from '../ui/fields';
import { Editor, type LineState } from './editor';
import { section } from './section';

/** Milliseconds without a letter after which a text is sent. */
const REST_MS = 150;

export function buildRules(player: Player): HTMLElement {
  const element = h('div.properties.rules', { 'data-testid': 'rules' });
  const writer = new Writer();
  const nothing = h('p.note', { 'data-testid': 'rules-empty' }, 'This character has no skeleton. Rules pose skeletons: open a character with one, take the sample of a biped, or fit a skin to a clip.');
  const head = h('div.rules-head');
  const report = h('div.rules-report', { 'data-testid': 'rules-report', role: 'status' });
  const slots = [h('div'), h('div'), h('div')];
  const body = h('div.rules-body', null, head, writer.editor.element, report, ...slots);
  element.append(nothing, body);
  const showHead = whenChanged(() => head.replaceChildren(...headOf(player, writer)));
  const showReport = whenChanged(() => report.replaceChildren(...reportOf(writer.editor)));
  const showWriting = whenChanged(() => slots[0].replaceChildren(writingSection()));
  const showThings = whenChanged(() => slots[1].replaceChildren(thingsSection()));
  const showKeep = whenChanged(() => slots[2].replaceChildren(keepSection(player)));
  const show = (): void => {
    const { doc } = store;
    nothing.hidden = hasRig();
    body.hidden = !hasRig();
    if (!hasRig()) return;
    showHead([doc?.rules.start, player.clip?.name]);
    writer.show();
    showReport([doc?.ruled?.diagnostics, doc?.ruled?.solved, doc?.ruled?.stale]);
    showWriting([writing.template?.id, writing.names]);
    showThings([rules().markers, rules().planes, store.prefs.units]);
    showKeep([doc?.clips.map(({ name }) => name)]);
  };
  for (const topic of ['doc', 'prefs', 'welcome'] as const) store.on(topic, show);
  writing.on('change', show);
  writing.on('line', (line) => writer.append(line));
  player.on('change', show);
  store.on('opened', () => {
    writing.begin(null);
    if (store.tool === 'rules' && hasRig()) void showShape('ruled');
  });
  let before = store.tool;
  store.on('tab', (tab) => {
    if (tab === 'rules' && hasRig() && store.tool !== 'rules') {
      before = store.tool;
      store.setTool('rules');
    } else if (tab !== 'rules' && store.tool === 'rules') store.setTool(before === 'rules' ? 'drag' : before);
  });
  show();
  return element;
}

/** The editor and the text of the document, which may be changed by others. */
class Writer {
  private timer = 0;
  readonly editor = new Editor(() => {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.send(), REST_MS);
  });

  /** Take what the document says, unless something else is being typed. */
  show(): void {
    if (this.timer === 0) this.editor.text = rules().text;
    const { ruled } = store.doc ?? {};
    const isSame = this.editor.text === rules().text;
    if (isSame && ruled) this.editor.mark(ruled.diagnostics, lineStates());
  }

  async append(line: string): Promise<void> {
    await this.send();
    await addLine(line);
  }

  async format(): Promise<void> {
    const done = await ask<{ text: string }>({ type: 'format_rules', text: this.editor.text });
    if (!done) return;
    this.editor.text = done.text;
    await this.send();
  }

  private async send(): Promise<void> {
    clearTimeout(this.timer);
    const { text } = this.editor;
    if (text !== rules().text) await change({ text: { text } });
    if (this.editor.text === text) this.timer = 0;
  }
}

/** What each line has come to, for the numbers at the left. */
function lineStates(): Map<number, { state: LineState; tip: string }> {
  const states = new Map<number, { state: LineState; tip: string }>();
  const { ruled } = store.doc ?? {};
  if (!ruled) return states;
  if (!ruled.stale) {
    for (const rule of ruled.solved?.rules ?? []) {
      const isGood = rule.holds || rule.objective;
      states.set(rule.line, { state: isGood ? 'good' : 'warning', tip: amount(rule) });
    }
    for (const { lines, message } of ruled.solved?.conflicts ?? [])
      for (const line of lines) states.set(line, { state: 'conflict', tip: message });
  }
  for (const { line, severity, message } of ruled.diagnostics)
    if (severity !== 'note') states.set(line, { state: severity, tip: message });
  return states;
}

function amount({ residual, unit, holds, objective }: { residual: number; unit: string; holds: boolean; objective: boolean }): string {
  if (holds && !objective) return `0 ${unit}`.trim();
  return `${objective ? '' : 'off by '}${residual.toFixed(Math.abs(residual) < 10 ? 2 : 1)} ${unit}`.trim();
}

function headOf(player: Player, writer: Writer): Node[] {
  const { start } = rules();
  const clip = player.clip?.name;
  const choices = [{ value: '', label: 'rest' }];
  if (start) choices.push({ value: ' kept', label: `${start.clip} at ${start.time.toFixed(2)} s` });
  if (clip !== undefined) choices.push({ value: ' now', label: `${clip}, this frame` });
  const choose = (value: string): void => {
    if (value === ' kept') return;
    void change({ start: { start: value === '' || clip === undefined ? null : { clip, time: player.time } } });
  };
  return [
    h('label.inline', { 'data-tip': 'The pose that solving begins with, and stays near to' }, h('span', null, 'Start'), selectField('rules-start', 'Start', start ? ' kept' : '', choices, choose)),
    h('span.grow'),
    h('button', { type: 'button', 'data-testid': 'rules-format', 'data-tip': 'Write the text evenly', onclick: () => void writer.format() }, 'Format'),
  ];
}

/** Faults first; if there are none, how well the lines hold. */
function reportOf(editor: Editor): Node[] {
  const { ruled } = store.doc ?? {};
  if (!ruled) return [h('p.note', null, 'Write a rule, or choose a verb below and click.')];
  const faults = ruled.diagnostics.filter(({ severity }) => severity !== 'note');
  const nodes: Node[] = [];
  if (faults.length > 0) nodes.push(h('ul.faults', { id: 'rules-faults', 'data-testid': 'rules-faults' }, ...faults.map((fault) => faultItem(fault, editor))));
  const { solved } = ruled;
  if (!solved) return nodes;
  if (ruled.stale) {
    nodes.push(h('p.note', { 'data-testid': 'rules-state' }, 'Shown is the pose of the text before; mend the lines above.'));
    return nodes;
  }
  const n = solved.rules.length;
  const how = n === 0 ? 'No rules yet' : solved.converged ? (n === 1 ? 'The rule holds' : `All ${n} rules hold`) : 'Not all rules can hold';
  nodes.push(
    h(
      'p',
      { class: `verdict ${solved.converged ? 'good' : 'bad'}`, 'data-testid': 'rules-state' },
      how,
      h('span.dim', { 'data-testid': 'rules-freedom', 'data-tip': free(solved.free) }, ` · ${solved.dof_left} of ${solved.dof} freedoms left · ${solved.ms.toFixed(1)} ms`),
    ),
  );
  for (const { message, lines } of solved.conflicts)
    nodes.push(h('button.fault.error', { type: 'button', 'data-testid': 'rules-conflict', onclick: () => goTo(editor, lines[0]) }, `${lines[0]}: ${message}`));
  if (n > 0) nodes.push(h('div.residuals', { 'data-testid': 'rules-residuals' }, ...solved.rules.map((rule) => residual(rule, editor))));
  if (solved.redundant.length > 0) nodes.push(h('p.note', null, `Redundant: line ${solved.redundant.join(', ')}`));
  if (solved.at_limit.length > 0) nodes.push(h('p.note', null, `At a limit: ${solved.at_limit.slice(0, 8).join(', ')}`));
  return nodes;
}

const free = (names: string[]): string => (names.length === 0 ? 'None' : names.slice(0, 14).join(' ') + (names.length > 14 ? ' …' : ''));

function faultItem(fault: Fault, editor: Editor): HTMLElement {
  const { line, column, from, to, severity, message } = fault;
  return h(
    'li',
    null,
    h('button', { type: 'button', class: `fault ${severity}`, 'data-testid': `fault-${line}-${column}`, onclick: () => editor.go(line, from, to) }, `${line}:${column} ${message}`),
  );
}

/** The whole of a line. */
function goTo(editor: Editor, line: number): void {
  const lines = editor.text.split('\n');
  const from = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
  editor.go(line, from, from + (lines[line - 1]?.length ?? 0));
}

function residual(rule: { line: number; residual: number; unit: string; holds: boolean; objective: boolean; soft: boolean }, editor: Editor): HTMLElement {
  const text = editor.text.split('\n')[rule.line - 1]?.trim() ?? '';
  return h(
    'button',
    { type: 'button', class: `residual ${rule.holds || rule.objective ? 'good' : rule.soft ? 'warning' : 'bad'}`, onclick: () => goTo(editor, rule.line), 'data-testid': `residual-${rule.line}` },
    h('span.number', null, String(rule.line)),
    h('span.name', null, text),
    h('span.amount', null, amount(rule)),
  );
}

function writingSection(): HTMLElement {
  const { template } = writing;
  const choices = [{ value: '', label: 'Choose a verb…' }, ...TEMPLATES.map(({ id, label }) => ({ value: id, label }))];
  const picked = writing.names.map((name) => h('span.chip', null, name));
  const stop = template ? [iconButton('write-stop', 'close', 'Stop writing (Esc)', () => writing.begin(null))] : [];
  return section(
    'Write by clicking',
    h('div.write-row', null, selectField('write-verb', 'Verb', template?.id ?? '', choices, (id) => writing.begin(id || null)), ...stop),
    ...(template ? [h('p.note', { 'data-testid': 'write-prompt' }, ...picked, ` ${writing.prompt()}`)] : []),
  );
}

function thingsSection(): HTMLElement {
  const { markers, planes } = rules();
  const size = store.doc ? store.doc.bounds[1][1] - store.doc.bounds[0][1] : 1.7;
  const addMarker = (): void => {
    const front = store.doc ? store.doc.bounds[1][2] + 0.15 * size : 0.4;
    void change({ marker: { name: freeName('Marker'), position: [0.2 * size, 0.6 * size, front] } });
  };
  const addPlane = (): void => void change({ plane: { name: planes.length === 0 ? 'Floor' : freeName('Plane'), point: [0, 0, 0], normal: [0, 1, 0] } });
  return section(
    'Markers and planes',
    ...markers.map(markerRow),
    ...planes.map(planeRow),
    h(
      'div.actions',
      null,
      h('button', { type: 'button', 'data-testid': 'marker-add', onclick: addMarker }, 'Add marker'),
      h('button', { type: 'button', 'data-testid': 'plane-add', onclick: addPlane }, 'Add plane'),
    ),
  );
}

function nameField(name: string): HTMLInputElement {
  const input = h('input.name', { type: 'text', value: name, 'aria-label': `Name of ${name}`, 'data-testid': `thing-name-${name}` });
  input.addEventListener('change', () => {
    const to = input.value.trim();
    if (to === '' || to === name) input.value = name;
    else void change({ rename: { name, to } }).then((done) => done === undefined && (input.value = name));
  });
  return input;
}

const removeButton = (name: string): HTMLButtonElement => iconButton(`thing-remove-${name}`, 'trash', `Remove ${name}`, () => void change({ remove: { name } }));

function markerRow({ name, position }: Marker): HTMLElement {
  const field = (axis: 0 | 1 | 2, label: string): HTMLElement =>
    lengthField({
      id: `marker-${name}-${label.toLowerCase()}`,
      label: `${name} ${label}`,
      value: position[axis],
      set: (value) => void change({ marker: { name, position: position.map((x, k) => (k === axis ? value : x)) as Vec3 } }),
    });
  return h('div.thing', { 'data-testid': `marker-${name}` }, nameField(name), ...AXES.map(([axis, label]) => field(axis, label)), removeButton(name));
}

function planeRow({ name, point, normal }: RulePlane): HTMLElement {
  const lie = (to: Vec3): void => void change({ plane: { name, point, normal: to } });
  const height = lengthField({ id: `plane-${name}-height`, label: `Height of ${name}`, value: point[1], set: (y) => void change({ plane: { name, point: [point[0], y, point[2]], normal } }) });
  const tilt = (Math.acos(Math.min(1, Math.max(-1, normal[1] / Math.hypot(...normal)))) * 180) / Math.PI;
  return h(
    'div.thing',
    { 'data-testid': `plane-${name}` },
    nameField(name),
    height,
    h('button', { type: 'button', class: 'tilt', 'data-tip': 'Tilt; a click lays it level', 'data-testid': `plane-${name}-level`, onclick: () => lie([0, 1, 0]) }, `${tilt.toFixed(0)}°`),
    removeButton(name),
  );
}

function keepSection(player: Player): HTMLElement {
  const name = h('input', { type: 'text', value: 'pose', 'aria-label': 'Name of the pose', 'data-testid': 'keep-name' });
  const keep = async (): Promise<void> => {
    const clip = name.value.trim() || 'pose';
    if ((await run({ keep_pose: { clip } })) !== undefined) player.choose(clip, false);
  };
  return section(
    'Keep the pose',
    h('div.write-row', null, name, h('button.primary', { type: 'button', 'data-testid': 'keep-pose', 'data-tip': 'As a clip of one frame, which is exported with the character', onclick: () => void keep() }, 'Keep as clip')),
  );
}
