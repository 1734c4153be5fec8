// Options of the pose tools.
import { Options } from '../../tools/options';

export const poseOptions = new Options<{ twistAxis: 'limb' | 'x' | 'y' | 'z'; space: 'world' | 'local' }>({
  twistAxis: 'limb',
  space: 'world',
});
