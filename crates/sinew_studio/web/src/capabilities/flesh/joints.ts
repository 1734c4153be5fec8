// Joints placed by the user, and the pose of a skeleton by numbers.
import { run, store } from '../../app';
import type { Flesh, JointSite, Vec3 } from '../../net/protocol';
import { AXES, button, iconButton, note, numberField, row, segments, selectField } from '../../ui/fields';
import { section } from '../../ui/section';
import { addSkeletonRow } from '../../ui/skeleton';
import { h, type View } from '../../ui/view';
import { anglesOf, changeFlesh, fleshView, freeClipName, isUnbound, jointOf, joints, turnTo } from './state';

const MODES = [
  { value: 'put' as const, label: 'Place', tip: 'Click to place a joint, drag to move it' },
  { value: 'turn' as const, label: 'Turn', tip: 'Drag a joint to turn the bone above it' },
];

export function jointSection(data: Flesh): View {
  const isOwn = data.own_skeleton;
  const canTurn = data.bound && !isOwn;
  return section(
    'Joints',
    ...introduction(data),
    h(
      'div.actions',
      null,
      button('flesh-joint-tool', 'Joint tool', () => store.setTool('joint'), { icon: 'joint' }),
      canTurn && segments('flesh-joint-mode', 'Joint mode', fleshView.mode, MODES, (mode) => fleshView.set({ mode })),
    ),
    ...(isOwn || fleshView.turns ? [] : data.sites.map((site) => siteRow(site, data.sites))),
    ...(isOwn || data.sites.length === 0 ? [] : [bindRow(data.bound)]),
    ...(fleshView.turns && data.joints.length > 0 ? turnRows(data.turned) : []),
  );
}

function introduction({ own_skeleton, sites }: Flesh): View[] {
  if (own_skeleton)
    return [
      note(
        'The character has a skeleton. Turn its joints with the joint tool or by numbers; the flesh follows.',
        'flesh-own',
      ),
    ];
  if (sites.length > 0) return [];
  return [
    note(
      'Without a skeleton the body rests on the ground. Add one that fits its shape, or choose the joint tool and ' +
        'click on the surface to place a joint half-way through the body; the next one becomes its child.',
      'flesh-no-joints',
    ),
    addSkeletonRow('flesh-add-skeleton'),
  ];
}

function siteRow({ name, parent, position }: JointSite, sites: JointSite[]): View {
  const others = sites.filter((site) => site.name !== name);
  const choices = [{ value: '', label: 'root' }, ...others.map((site) => ({ value: site.name, label: site.name }))];
  const attach = (value: string): unknown =>
    changeFlesh({ joint: { joint: { name, parent: value === '' ? null : value, position } } });
  return h(
    'div.site',
    { key: name, 'data-testid': `site-${name}`, 'aria-current': fleshView.joint === name ? 'true' : undefined },
    h('button.name', { type: 'button', onclick: () => fleshView.set({ joint: name }) }, name),
    h('span.dim', null, 'on'),
    selectField(`site-${name}-parent`, `Parent of ${name}`, parent ?? '', choices, attach),
    iconButton(`site-${name}-remove`, 'trash', 'Remove the joint', () => void changeFlesh({ remove_joint: { name } })),
  );
}

function bindRow(bound: boolean): View {
  const bind = async (): Promise<void> => {
    if ((await run({ bind_joints: {} })) !== undefined) fleshView.set({ mode: 'turn' });
  };
  return h(
    'div.actions',
    { key: 'bind' },
    button('flesh-bind', bound ? 'Make skeleton again' : 'Make skeleton', () => void bind(), {
      class: isUnbound() ? 'primary' : '',
      icon: 'bones',
      disabled: !isUnbound(),
      tip: 'Bones between the joints, and weights of the surface',
    }),
  );
}

function turnRows(turned: boolean): View[] {
  const all = joints();
  const joint = jointOf(fleshView.joint) ?? all[0];
  const angles = anglesOf(joint);
  const field = (axis: 0 | 1 | 2, name: string): View =>
    numberField({
      id: `flesh-turn-${name}`,
      label: `Degrees about ${name}`,
      value: angles[axis],
      min: -180,
      max: 180,
      step: 5,
      digits: 1,
      set: (value) => turnTo(joint.name, angles.map((old, k) => (k === axis ? value : old)) as Vec3),
    });
  const names = all.map(({ name }) => ({ value: name, label: name }));
  const save = (): void => void run({ keep_turns: { clip: freeClipName('pose') } });
  return [
    row(
      'Joint',
      selectField('flesh-joint', 'Joint', joint.name, names, (name) => fleshView.set({ joint: name })),
    ),
    row('Rotation', ...AXES.map(([axis, name]) => field(axis, name)), h('span.dim', null, '°')),
    h(
      'div.actions',
      { key: 'turned' },
      button('flesh-reset-turns', 'Reset pose', () => void changeFlesh({ reset_turns: {} }), { disabled: !turned }),
      button('flesh-keep-turns', 'Save as clip', save, { tip: 'The pose of the joints as a clip of one frame' }),
    ),
  ];
}
