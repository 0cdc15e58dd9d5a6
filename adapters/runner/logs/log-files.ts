import { readdirSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';

/** What of a task's output is kept, for each of its two streams (job interface, directories and logs). */
export interface LogLimits {
  readonly maximumFiles: number;
  readonly maximumFileBytes: number;
  readonly disabled: boolean;
}

/** Where a stream of output goes on: in `<base>.<number>`, which holds `size` bytes already. */
interface LogPosition {
  readonly number: number;
  readonly size: number;
}

const fileNumber = /^(?:0|[1-9][0-9]{0,14})$/;

/**
 * The numbers of the files `<base>.N` that are there, rising. Tasks can write in the same folder: links, pipes and directories that
 * have such a name are none of them.
 */
export function logNumbers(base: string): number[] {
  const prefix = `${basename(base)}.`;
  return readdirSync(dirname(base), { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.startsWith(prefix))
    .map(({ name }) => name.slice(prefix.length))
    .filter((text) => fileNumber.test(text))
    .map(Number)
    .sort((left, right) => left - right);
}

/** The newest file; file 0 where there is none. */
export function logPosition(base: string): LogPosition {
  const number = logNumbers(base).at(-1);
  return number === undefined ? { number: 0, size: 0 } : { number, size: statSync(`${base}.${number}`).size };
}
