// Options of the tools that draw handles.
import { store } from '../../app';
import { freeName } from '../../names';
import type { PaintOp, RegionMode } from '../../net/protocol';
import { Options } from '../../tools/options';

export const handleOptions = new Options<{
  mode: RegionMode;
  op: PaintOp | 'new';
  weight: number;
  singleFaces: boolean;
}>({ mode: 'facing', op: 'add', weight: store.prefs.brushWeight, singleFaces: false });

export const newHandleName = (): string => freeName(store.doc?.handles ?? [], (n) => `handle.${n}`);
