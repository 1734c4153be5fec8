// Every capability of the page, in the order of use: panels, tools and commands follow it. A new one is added here and
// nowhere else.
import type { Capability } from '../capability';
import { document } from './document';
import { exporting } from './export';
import { fit } from './fit';
import { flesh } from './flesh';
import { handles } from './handles';
import { history } from './history';
import { muscles } from './muscles';
import { paths } from './paths';
import { pose } from './pose';
import { puppet } from './puppet';
import { reach } from './reach';
import { refit } from './refit';
import { rules } from './rules';
import { sculpt } from './sculpt';
import { turntable } from './turntable';
import { walk } from './walk';

export const CAPABILITIES: readonly Capability[] = [
  document,
  pose,
  reach,
  sculpt,
  paths,
  rules,
  handles,
  walk,
  refit,
  puppet,
  flesh,
  muscles,
  fit,
  turntable,
  exporting,
  history,
];
