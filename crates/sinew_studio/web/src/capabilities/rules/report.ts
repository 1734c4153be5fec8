// What the rules came to: faults first; if there are none, how well the lines hold.
import { store } from '../../app';
import type { Fault, Ruled } from '../../net/protocol';
import { note } from '../../ui/fields';
import { h, type View } from '../../ui/view';
import type { RulesEditor } from './editor';
import { amount } from './text';

type Solved = NonNullable<Ruled['solved']>;

/** Names that a tooltip shows. */
const MAX_NAMES = 14;

export function reportView(editor: RulesEditor): View[] {
  const { ruled } = store.doc ?? {};
  if (!ruled) return [note('Write a rule, or choose a verb below and click.')];
  const faults = ruled.diagnostics.filter(({ severity }) => severity !== 'note');
  const list =
    faults.length > 0
      ? [
          h(
            'ul.faults',
            { id: 'rules-faults', 'data-testid': 'rules-faults' },
            ...faults.map((fault) => faultItem(fault, editor)),
          ),
        ]
      : [];
  if (!ruled.solved) return list;
  if (ruled.stale) return [...list, note('Showing the last valid pose; fix the errors above.', 'rules-state')];
  return [...list, ...solvedView(ruled.solved, editor)];
}

function solvedView(solved: Solved, editor: RulesEditor): View[] {
  const conflict = ({ message, lines }: Solved['conflicts'][number]): View =>
    h(
      'button.fault.error',
      { type: 'button', 'data-testid': 'rules-conflict', onclick: () => editor.goToLine(lines[0]) },
      `${lines[0]}: ${message}`,
    );
  const lines = solved.rules.map((rule) => residual(rule, editor));
  return [
    verdict(solved),
    ...solved.conflicts.map(conflict),
    ...(lines.length > 0 ? [h('div.residuals', { 'data-testid': 'rules-residuals' }, ...lines)] : []),
    ...(solved.redundant.length > 0 ? [note(`Redundant: line ${solved.redundant.join(', ')}`)] : []),
    ...(solved.at_limit.length > 0 ? [note(`At a limit: ${solved.at_limit.slice(0, 8).join(', ')}`)] : []),
  ];
}

function verdict({ rules, converged, free, dof, dof_left, ms }: Solved): View {
  const n = rules.length;
  const all = n === 1 ? 'The rule holds' : `All ${n} rules hold`;
  const text = n === 0 ? 'No rules yet' : converged ? all : 'Not all rules can hold';
  const names = free.slice(0, MAX_NAMES).join(' ') + (free.length > MAX_NAMES ? ' …' : '');
  return h(
    'p.verdict',
    { class: converged ? 'good' : 'bad', 'data-testid': 'rules-state' },
    text,
    h(
      'span.dim',
      { 'data-testid': 'rules-freedom', 'data-tip': names || 'None' },
      ` · ${dof_left} of ${dof} degrees of freedom left · ${ms.toFixed(1)} ms`,
    ),
  );
}

function faultItem({ line, column, from, to, severity, message }: Fault, editor: RulesEditor): View {
  return h(
    'li',
    null,
    h(
      'button.fault',
      {
        type: 'button',
        class: severity,
        'data-testid': `fault-${line}-${column}`,
        onclick: () => editor.go(from, to),
      },
      `${line}:${column} ${message}`,
    ),
  );
}

function residual(rule: Solved['rules'][number], editor: RulesEditor): View {
  const state = rule.holds || rule.objective ? 'good' : rule.soft ? 'warning' : 'bad';
  return h(
    'button.residual',
    {
      key: rule.line,
      type: 'button',
      class: state,
      onclick: () => editor.goToLine(rule.line),
      'data-testid': `residual-${rule.line}`,
    },
    h('span.number', null, String(rule.line)),
    h('span.name', null, editor.lineText(rule.line)),
    h('span.amount', null, amount(rule)),
  );
}
