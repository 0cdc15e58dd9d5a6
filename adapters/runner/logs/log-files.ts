import { type Dirent, readdirSync, statSync } from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

/** How much output of a task is kept, for each of its two streams (job interface, directories and logs). */
export interface LogLimits {
  readonly maximumFiles: number;
  readonly maximumFileBytes: number;
  readonly disabled: boolean;
}

/** Where a stream continues: in `<base>.<number>`, which already has `size` bytes. */
interface LogPosition {
  readonly number: number;
  readonly size: number;
}

const fileNumber = /^(?:0|[1-9][0-9]{0,14})$/;

/** The most files of one stream that are read, the newest; a task can create any number of similar files. */
const mostFiles = 10_000;

/** Directory entries per read. */
const entriesAtOnce = 256;

/**
 * The numbers of the existing files `<base>.N`, ascending. Tasks can write in the same folder: links, pipes and directories with
 * such a name are ignored. The folder is read in steps, so that a large one does not block the event loop; empty if the folder is
 * missing.
 */
export async function logNumbers(base: string): Promise<number[]> {
  const numbers: number[] = [];
  try {
    for await (const entry of await opendir(dirname(base), { bufferSize: entriesAtOnce })) {
      const number = numberOf(entry, `${basename(base)}.`);
      if (number !== undefined) numbers.push(number);
      if (numbers.length >= 2 * mostFiles) keepNewest(numbers);
    }
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  keepNewest(numbers);
  return numbers;
}

function numberOf(entry: Dirent, prefix: string): number | undefined {
  if (!entry.name.startsWith(prefix) || !entry.isFile()) return undefined;
  const text = entry.name.slice(prefix.length);
  return fileNumber.test(text) ? Number(text) : undefined;
}

function keepNewest(numbers: number[]): void {
  numbers.sort((left, right) => left - right).splice(0, Math.max(0, numbers.length - mostFiles));
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** The newest file, or file 0 if there is none. */
export async function findLogPosition(base: string): Promise<LogPosition> {
  const number = (await logNumbers(base)).at(-1);
  return number === undefined ? { number: 0, size: 0 } : { number, size: (await stat(`${base}.${number}`)).size };
}

/** The synchronous variant, for functions, which write from this process. */
export function logPosition(base: string): LogPosition {
  const numbers = readdirSync(dirname(base), { withFileTypes: true }).flatMap(
    (entry) => numberOf(entry, `${basename(base)}.`) ?? [],
  );
  const number = numbers.reduce((newest, each) => Math.max(newest, each), -1);
  return number === -1 ? { number: 0, size: 0 } : { number, size: statSync(`${base}.${number}`).size };
}
