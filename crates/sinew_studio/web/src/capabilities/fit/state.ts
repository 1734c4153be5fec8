// How a fit is shown: beside the document or instead of it, and which of its values are in colours.
import { ask, socket, store } from '../../app';
import { Emitter } from '../../emitter';
import { address } from '../../net/address';
import type { FitSettings, Job } from '../../net/protocol';

export type FitMode = 'original' | 'both' | 'fit';
export type FitMap = 'none' | 'error' | 'deformation' | 'clusters' | 'weights';

/** Values of every vertex. */
export interface FitMaps {
  version: number;
  bones: number;
  influences: number;
  error: Float32Array;
  deformation: Float32Array;
  indices: Uint16Array;
  weights: Uint8Array;
}

class FitView extends Emitter<{ change: null }> {
  mode: FitMode = 'both';
  map: FitMap = 'error';
  bone = 0;
  maps: FitMaps | null = null;
  private asked = 0;

  constructor() {
    super();
    store.on('doc', ({ fit }) => {
      if (fit === null) this.maps = null;
      else if (fit.version !== this.asked) void this.fetch(fit.version);
    });
  }

  /** Change what is shown; the server sends the fit only while it is shown. */
  set(change: Partial<Pick<FitView, 'mode' | 'map' | 'bone'>>): void {
    Object.assign(this, change);
    const on = this.mode !== 'original';
    if (change.mode && store.doc?.fit && store.doc.compare !== on) void ask({ type: 'compare', on });
    this.emit('change', null);
  }

  /** The bone that a vertex follows most. */
  strongest(vertex: number): number | null {
    if (!this.maps) return null;
    const { influences: k, indices, weights } = this.maps;
    let best = vertex * k;
    for (let i = best; i < (vertex + 1) * k; i++) if (weights[i] > weights[best]) best = i;
    return indices[best];
  }

  private async fetch(version: number): Promise<void> {
    this.asked = version;
    const answer = await fetch(address(`/fit/${version}`)).catch(() => null);
    // A newer one is on its way.
    if (!answer?.ok || this.asked !== version) return;
    const buffer = await answer.arrayBuffer();
    const [n, bones, influences] = new Uint32Array(buffer, 0, 4);
    let at = 16;
    const take = <T>(bytes: number, view: (at: number) => T): T => {
      at += bytes;
      return view(at - bytes);
    };
    const error = take(4 * n, (from) => new Float32Array(buffer, from, n));
    const deformation = take(4 * n, (from) => new Float32Array(buffer, from, n));
    const indices = take(2 * n * influences, (from) => new Uint16Array(buffer, from, n * influences));
    const weights = take(n * influences, (from) => new Uint8Array(buffer, from, n * influences));
    this.maps = { version, bones, influences, error, deformation, indices, weights };
    this.bone = Math.min(this.bone, bones - 1);
    this.emit('change', null);
  }
}

export const fitView = new FitView();

/** Settings of the next fit: as many bones as it takes, a number of them, or an error. */
interface FitParams extends Pick<FitSettings, 'clips' | 'influences' | 'rigid' | 'correct_rest' | 'flat'> {
  aim: 'automatic' | 'bones' | 'error';
  bones: number;
  error: number;
}

/** Where the slider of bones begins. */
const FIRST_BONES = 50;

/** What the user chose; everything else is as the server has it. */
export const chosenFit: Partial<FitParams> = {};

export function fitParams(): FitParams {
  const { clips, influences, rigid, correct_rest, flat } = store.welcome!.fit_defaults;
  const bones = store.doc?.fit?.bones ?? FIRST_BONES;
  return { clips, bones, influences, rigid, correct_rest, flat, aim: 'automatic', error: 0.1, ...chosenFit };
}

/** Settings of a fit, or of an export through it. */
export function fitSettings(): Partial<FitSettings> {
  const { aim, influences, rigid, correct_rest, flat, ...rest } = fitParams();
  const [bones, error] = [aim === 'bones' ? rest.bones : null, aim === 'error' ? rest.error : null];
  const clips = rest.clips.filter((name) => store.doc?.clips.some((clip) => clip.name === name));
  return { clips, bones, error, influences, rigid, correct_rest, flat };
}

/** The fit in progress. */
export const fitJob = (): Job | undefined => [...store.jobs.values()].find(({ kind }) => kind === 'fit');

/** Stop a fit; its best result so far is used. */
export function stopFit(): void {
  const job = fitJob();
  if (job) socket.send({ type: 'cancel', job: job.job });
}
