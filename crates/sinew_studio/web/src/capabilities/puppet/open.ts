// Opening an actor: a recording, or a demonstration.
import { ask } from '../../app';
import { chooseFiles } from '../../dialogs/drop';
import { browse } from '../../dialogs/open';
import { showPanel } from '../../shell/workspaces';
import { toast } from '../../ui/toast';
import { puppetStage } from './state';

/** A recording was opened: show it beside the character. */
export async function showActor(opened: unknown): Promise<void> {
  if (opened === undefined) return;
  for (const warning of (opened as { warnings: string[] }).warnings) toast('warning', warning);
  showPanel('puppet');
  if (puppetStage.source === 'recording') puppetStage.seek(0);
  else await puppetStage.choose('recording');
}

/** A recording of a person. */
export function openActor(): void {
  browse('Open a recording', (path) => void ask({ type: 'actor', path }).then(showActor), [
    ['open-local', 'Files…', () => chooseFiles(false, 'actor')],
  ]);
}

export async function openDemo(name: string): Promise<void> {
  const opened = await ask({ type: 'puppet_demo', name });
  if (opened === undefined) return;
  await showActor(opened);
  if (!puppetStage.playing) puppetStage.toggle();
}
