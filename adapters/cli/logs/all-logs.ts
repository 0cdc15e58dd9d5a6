import { type Client, orThrow, SignalboxError } from '../../../src/client/index.js';
import type { AllocationListStub } from '../../../src/scheduler/index.js';
import { short } from '../output/tables.js';
import type { TaskLog } from './task-log.js';

/** How a log is read. */
export type ReadLog = (log: TaskLog) => AsyncIterable<Uint8Array>;

/** Writes complete lines. Resolves when there is room for more. */
type WriteLines = (lines: Uint8Array) => Promise<void>;

/** The selected logs: of all allocations of a job, or of one group. */
interface WantedLogs {
  readonly box: Client;
  readonly jobId: string;
  readonly inNamespace: { readonly namespace?: string };
  readonly group: string | undefined;
  /** The tasks by group. */
  readonly tasks: Readonly<Record<string, readonly string[]>>;
  readonly type: 'stdout' | 'stderr';
}

const lineFeed = 0x0a;
/** The `wait` of a blocking query: short, as the end of a job does not wake queries for its allocations. */
const wait = '5s';

/** Writes the logs of all allocations' tasks, one allocation after the other, each line with a prefix. */
export async function writeAllLogs(wanted: WantedLogs, read: ReadLog, write: WriteLines): Promise<number> {
  const allocations = (await allocationsOf(wanted, {})).items;
  for (const allocation of allocations) {
    for (const task of tasksOf(wanted, allocation)) await writeLog(wanted, { allocation, task }, read, write);
  }
  return allocations.length;
}

/** Follows the logs of current and new allocations concurrently until the job has ended and everything is written. */
export async function followAllLogs(wanted: WantedLogs, read: ReadLog, write: WriteLines): Promise<void> {
  const followed = new Map<string, Promise<unknown>>();
  for (let waiting = {}; ; ) {
    const { items, index } = await allocationsOf(wanted, waiting);
    for (const allocation of items) {
      if (followed.has(allocation.ID)) continue;
      const logs = tasksOf(wanted, allocation).map((task) => writeLog(wanted, { allocation, task }, read, write));
      followed.set(allocation.ID, Promise.all(logs));
    }
    const hasFailed = Promise.all(followed.values());
    if (items.every(isOver) && (await isDead(wanted))) {
      await hasFailed;
      return;
    }
    hasFailed.catch(() => undefined);
    waiting = { index, wait };
  }
}

async function allocationsOf({ box, jobId, inNamespace, group }: WantedLogs, waiting: object) {
  const { value, index } = await orThrow(box.jobs.allocations(jobId, { ...inNamespace, ...waiting }));
  const items = (value ?? [])
    .filter(({ TaskGroup }) => group === undefined || TaskGroup === group)
    .sort((a, b) => a.CreateIndex - b.CreateIndex || (a.Name < b.Name ? -1 : 1));
  return { items, index };
}

function tasksOf({ tasks }: WantedLogs, { TaskGroup }: AllocationListStub): readonly string[] {
  return tasks[TaskGroup] ?? [];
}

function isOver({ ClientStatus }: AllocationListStub): boolean {
  return ['complete', 'failed', 'lost'].includes(ClientStatus);
}

async function isDead({ box, jobId, inNamespace }: WantedLogs): Promise<boolean> {
  const { value } = await orThrow(box.jobs.read(jobId, inNamespace));
  return value === undefined || value.Status === 'dead';
}

async function writeLog(
  { box, type }: WantedLogs,
  { allocation, task }: { allocation: AllocationListStub; task: string },
  read: ReadLog,
  write: WriteLines,
): Promise<void> {
  const lines = new PrefixedLines(`${short(allocation.ID)} ${task}: `);
  try {
    for await (const piece of read({ box, allocationId: allocation.ID, task, type })) {
      const whole = lines.push(piece);
      if (whole.length > 0) await write(whole);
    }
  } catch (error) {
    // The task has not started or its log was removed: there is nothing to write.
    if (!(error instanceof SignalboxError) || error.type !== 'command_not_found') throw error;
  }
  const rest = lines.rest();
  if (rest.length > 0) await write(rest);
}

/** Bytes after which an unfinished line is written. */
const longestLine = 64 * 1024;

/** Splits chunks of a string into complete lines, each with a prefix. */
export class PrefixedLines {
  readonly #prefix: Buffer;
  #begun: Buffer = Buffer.alloc(0);

  constructor(prefix: string) {
    this.#prefix = Buffer.from(prefix);
  }

  /** The lines that this chunk completes. */
  push(piece: Uint8Array): Buffer {
    const text = Buffer.concat([this.#begun, piece]);
    const end = text.length > longestLine ? text.length : text.lastIndexOf(lineFeed) + 1;
    this.#begun = text.subarray(end);
    return this.#prefixed(text.subarray(0, end));
  }

  /** The unfinished last line, with a line feed added. */
  rest(): Buffer {
    const begun = this.#begun;
    this.#begun = Buffer.alloc(0);
    return begun.length === 0 ? begun : this.#prefixed(Buffer.concat([begun, Buffer.from('\n')]));
  }

  #prefixed(lines: Buffer): Buffer {
    const parts: Buffer[] = [];
    for (let at = 0; at < lines.length; ) {
      const end = lines.indexOf(lineFeed, at) + 1 || lines.length;
      parts.push(this.#prefix, lines.subarray(at, end));
      at = end;
    }
    return Buffer.concat(parts);
  }
}
