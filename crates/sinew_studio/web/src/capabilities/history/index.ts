// The history of the document.
import type { Capability } from '../../capability';
import { HistoryPanel } from './panel';

export const history: Capability = {
  id: 'history',
  panels: [
    { id: 'history', title: 'History', icon: 'clock', workspace: 'every', withHandles: true, view: HistoryPanel },
  ],
};
