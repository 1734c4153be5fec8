// Where things are that tests need, unless the environment says so.
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
process.env.SINEW_TOOLS ??= join(root, '.tools');
process.env.SINEW_BINARY ??= join(process.env.CARGO_TARGET_DIR ?? join(root, 'target'), 'debug/sinew');

/** A file of the outside data, which need not be there: tests name what they need as `needs`. */
export const data = (path) => join(process.env.SINEW_DATA || join(root, '../shared/data'), path);
