// The document as a whole: its size, its mesh.
import type { Capability } from '../../capability';
import { DocumentPanel } from './panel';

export const document: Capability = {
  id: 'document',
  panels: [{ id: 'document', title: 'Document', icon: 'file', workspace: 'character', view: DocumentPanel }],
};
