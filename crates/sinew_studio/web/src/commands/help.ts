// Help commands.
import type { Action } from '../actions';
import { openLicenses } from '../dialogs/licenses';
import { openPreferences } from '../dialogs/preferences';
import { openShortcuts } from '../dialogs/shortcuts';
import type { Tour } from '../tour';

export function helpCommands(tour: Tour): Action[] {
  return [
    { id: 'shortcuts', label: 'Keyboard shortcuts', group: 'Help', keys: { all: ['?'] }, run: openShortcuts },
    { id: 'tour', label: 'Take the tour', group: 'Help', run: () => tour.start() },
    {
      id: 'other-browser',
      label: 'Open in another browser…',
      group: 'Help',
      // A page with a new launch link, which lets one more browser in.
      run: () => void window.open('/launch', '_blank', 'noopener'),
    },
    { id: 'licenses', label: 'Licences…', group: 'Help', run: openLicenses },
    { id: 'preferences', label: 'Preferences…', group: 'Help', keys: { all: ['Ctrl+,'] }, run: openPreferences },
  ];
}
