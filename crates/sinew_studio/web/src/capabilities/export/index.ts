// Exporting files.
import type { Capability } from '../../capability';
import { ExportPanel } from './panel';

export const exporting: Capability = {
  id: 'export',
  panels: [{ id: 'export', title: 'Export', icon: 'export', workspace: 'deliver', view: ExportPanel }],
};
