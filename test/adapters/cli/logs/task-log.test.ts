import { describe, expect, it } from 'vitest';
import { followLog, readLog, type TaskLog } from '../../../../adapters/cli/logs/task-log.js';

/** The log of an ended task in one file, as a server gives it, in pieces. */
function logOf(text: Buffer): TaskLog {
  async function* logs(
    _: string,
    { offset = 0, origin = 'start', plain = false }: { offset?: number; origin?: string; plain?: boolean },
  ) {
    const from = origin === 'end' ? Math.max(0, text.length - offset) : offset;
    for (let at = from; at < text.length; at += 8 * 1024 * 1024) {
      const bytes = text.subarray(at, at + 8 * 1024 * 1024);
      yield plain ? bytes : { type: 'piece', file: 'task.stdout.0', offset: at + bytes.length, bytes };
    }
  }
  const value = {
    TaskStates: { task: { State: 'dead', StartedAt: '2026-01-02T03:04:05Z' } },
    ClientStatus: 'complete',
  };
  const answered = { isErr: () => false, value: { value, index: 1 } };
  const box = { files: { logs }, allocations: { read: async () => answered } };
  return { box, allocationId: 'a', task: 'task', type: 'stdout' } as unknown as TaskLog;
}

async function lengthOf(pieces: AsyncIterable<Uint8Array>): Promise<number> {
  let length = 0;
  for await (const piece of pieces) length += piece.length;
  return length;
}

describe('the last lines of a log', () => {
  it.each([
    ['three of five', Buffer.from('1\n2\n3\n4\n5\n'), 3, 6],
    ['more than there are', Buffer.from('1\n2\n'), 3, 4],
  ])('are the same whether it is followed or not: %s', async (_, text, lines, length) => {
    expect(await lengthOf(readLog(logOf(text), { lines }))).toBe(length);
    expect(await lengthOf(followLog(logOf(text), { lines }))).toBe(length);
  });

  it('are what the widest window holds when one line is longer, also followed', async () => {
    const widest = 64 * 1024 * 1024;
    const text = Buffer.alloc(widest + 1000, 'x');
    expect(await lengthOf(readLog(logOf(text), { lines: 10 }))).toBe(widest);
    expect(await lengthOf(followLog(logOf(text), { lines: 10 }))).toBe(widest);
  });
});
