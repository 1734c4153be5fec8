// Rules of the document: how they are changed, and how a line is written by clicking.
import { run, store } from '../../app';
import { Emitter } from '../../emitter';
import { freeName } from '../../names';
import type { Rules, RulesChange, Vec3 } from '../../net/protocol';
import { hasSkeleton } from '../../ui/skeleton';

const NONE: Rules = { text: '', markers: [], planes: [], contacts: [], grounds: [] };

export const rules = (): Rules => store.doc?.rules ?? NONE;
export const hasRules = (): boolean =>
  hasSkeleton() && (rules().text.trim() !== '' || store.doc?.display.what === 'ruled');

export function change(what: RulesChange): Promise<unknown> {
  return run({ rules: what });
}

/** A name as rules write it: in quotes unless it is one plain word. */
export function word(name: string): string {
  const joint = store.doc?.ruled?.joints.find((other) => other.name === name);
  if (joint) return joint.word;
  const { verbs, suffixes, units } = store.welcome?.language ?? { verbs: [], suffixes: [], units: [] };
  const taken = new Set([...verbs.map((verb) => verb.name), ...suffixes, ...units, ...BETWEEN]);
  return /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) && !taken.has(name) ? name : `"${name}"`;
}

/** Words between values, which names must not be. */
export const BETWEEN = [
  'to',
  'on',
  'along',
  'with',
  'of',
  'between',
  'at',
  'across',
  'from',
  'by',
  'toward',
  'in',
  'and',
  'through',
  'normal',
];

/** A name that no marker, plane or joint has yet. */
export function freeThingName(stem: string): string {
  const taken = [...rules().markers, ...rules().planes, ...(store.doc?.ruled?.joints ?? [])];
  return freeName(taken, (n) => `${stem}${n}`);
}

/** Where a joint, a marker, or a plane is. */
export function ruledPlace(name: string): Vec3 | null {
  const joint = store.doc?.ruled?.joints.find((other) => other.name === name);
  if (joint) return joint.position;
  const marker = rules().markers.find((other) => other.name === name);
  return marker?.position ?? rules().planes.find((plane) => plane.name === name)?.point ?? null;
}

export type Slot = 'joint' | 'point' | 'plane';

export interface Template {
  id: string;
  label: string;
  slots: Slot[];
  /** The line, of names as they are written and as they are called. */
  line(words: string[], names: string[]): string;
}

function apart(names: string[]): string {
  const [a, b] = names.map(ruledPlace);
  const metres = a && b ? Math.hypot(...a.map((x, k) => x - b[k])) : 0.4;
  return `${Number((100 * metres).toFixed(1))} cm`;
}

export const RULE_TEMPLATES: Template[] = [
  { id: 'pin', label: 'pin … to …', slots: ['joint', 'point'], line: ([a, b]) => `pin ${a} to ${b}` },
  { id: 'put-on', label: 'put … on plane', slots: ['joint', 'plane'], line: ([a, b]) => `put ${a} on ${b}` },
  { id: 'put-above', label: 'put … above plane', slots: ['joint', 'plane'], line: ([a, b]) => `put ${a} above ${b}` },
  { id: 'flat', label: 'flat … on plane', slots: ['joint', 'plane'], line: ([a, b]) => `flat ${a} on ${b}` },
  { id: 'look', label: 'look … at …', slots: ['joint', 'point'], line: ([a, b]) => `look ${a} at ${b}` },
  {
    id: 'distance',
    label: 'distance … … = now',
    slots: ['point', 'point'],
    line: ([a, b], names) => `distance ${a} ${b} = ${apart(names)}`,
  },
  {
    id: 'aim',
    label: 'aim … → … along … → …',
    slots: ['joint', 'joint', 'point', 'point'],
    line: ([a, b, c, d]) => `aim ${a} -> ${b} along ${c} -> ${d}`,
  },
  {
    id: 'midpoint',
    label: 'midpoint … of … …',
    slots: ['joint', 'point', 'point'],
    line: ([a, b, c]) => `midpoint ${a} of ${b} ${c}`,
  },
  {
    id: 'mirror',
    label: 'mirror … with … across plane',
    slots: ['joint', 'joint', 'plane'],
    line: ([a, b, c]) => `mirror ${a} with ${b} across ${c}`,
  },
  { id: 'keep', label: 'keep joint as it is', slots: ['joint'], line: ([a]) => `keep ${a}` },
  { id: 'lock', label: 'lock joint', slots: ['joint'], line: ([a]) => `lock ${a}` },
];

/** The rule that is being put together by clicking. */
class RuleWriter extends Emitter<{ change: null; line: string }> {
  template: Template | null = null;
  names: string[] = [];

  begin(id: string | null): void {
    this.template = RULE_TEMPLATES.find((template) => template.id === id) ?? null;
    this.names = [];
    if (this.template && store.tool !== 'rules') store.setTool('rules');
    this.emit('change', null);
  }

  /** What the next click should hit. */
  get slot(): Slot | null {
    return this.template?.slots[this.names.length] ?? null;
  }

  /** A thing was clicked; with the last one the line is written, and the next may follow. */
  pick(name: string): void {
    const { template } = this;
    if (!template) return;
    this.names = [...this.names, name];
    if (this.names.length === template.slots.length) {
      const line = template.line(this.names.map(word), this.names);
      this.names = [];
      this.emit('line', line);
    }
    this.emit('change', null);
  }

  prompt(): string {
    const { slot } = this;
    if (!slot || !this.template) return '';
    const what = { joint: 'a joint', point: 'a joint or a marker; a click elsewhere adds a marker', plane: 'a plane' }[
      slot
    ];
    return `Click ${what}.`;
  }
}

export const ruleWriter = new RuleWriter();

/** Add a line to the rules. */
export function addLine(line: string, to = rules().text): Promise<unknown> {
  const text = to === '' || to.endsWith('\n') ? `${to}${line}\n` : `${to}\n${line}\n`;
  return change({ text: { text } });
}
