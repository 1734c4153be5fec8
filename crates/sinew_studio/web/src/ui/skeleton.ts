// The action that gives a character without a skeleton one, for every panel that needs joints.
import { ask, store } from '../app';
import type { SkeletonReport } from '../net/protocol';
import { button } from './fields';
import { toast } from './toast';
import { h, type View } from './view';

export const hasSkeleton = (): boolean => (store.doc?.joints ?? 0) > 0;

/** Whether it has none, or one that was made of handles or of joints placed by the user, which may be replaced. */
export const needsSkeleton = (): boolean => !hasSkeleton() || store.doc?.flesh?.bound === true;

/** A button that adds a skeleton and reports what the body was taken for. */
export function addSkeletonRow(id: string): View {
  return h(
    'div.actions',
    null,
    button(id, 'Add a skeleton', () => void addSkeleton(), { class: 'primary', icon: 'joint' }),
  );
}

async function addSkeleton(): Promise<void> {
  const made = await ask<SkeletonReport>({ type: 'do', command: { add_skeleton: {} } });
  if (made) toast(made.is_guess ? 'warning' : 'info', made.text);
}
