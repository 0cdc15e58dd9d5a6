import { constants, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type LogLimits,
  LogWriter,
  livingCollector,
  startCollector,
} from '../../../../adapters/runner/logs/log-collector.js';
import {
  continueLog,
  continueLogSync,
  followingFile,
  placedFiles,
  rangeOf,
  readLogRange,
} from '../../../../adapters/runner/logs/log-files.js';
import type { LogRange } from '../../../../src/agent/link/node-command.js';
import { logRangeIn } from '../../../../src/agent/link/node-shapes.js';
import { eventually } from '../../../support/installation.js';
import { patience } from '../../../support/patience.js';

let folder: string;
let base: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-positions-'));
  mkdirSync(join(folder, 'logs'));
  base = join(folder, 'logs', 'main.stdout');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Read extends LogRange {
  readonly text: string;
}

async function read(from: number | null = null, limit: number | null = null): Promise<Read> {
  let range: LogRange | undefined;
  const pieces: Uint8Array[] = [];
  for await (const output of readLogRange(base, { from, limit })) {
    range ??= logRangeIn(output);
    if (output.type === 'piece') pieces.push(output.bytes);
  }
  if (range === undefined) throw new Error('no range');
  return { ...range, text: Buffer.concat(pieces).toString('latin1') };
}

const sized = (from: number, ...sizes: readonly number[]) => sizes.map((size, at) => ({ number: from + at, size }));

describe('the positions of kept files', () => {
  it.each([
    { name: 'nothing was written', starts: [], files: [], placed: [], end: 0 },
    { name: 'nothing was removed', starts: [], files: sized(0, 5, 3), placed: [0, 5], end: 8 },
    { name: 'the newest file is noted', starts: [[3, 30]], files: sized(2, 10, 4), placed: [20, 30], end: 34 },
    { name: 'a noted file is not created yet', starts: [[3, 30]], files: sized(2, 10), placed: [20], end: 30 },
    { name: 'only the next file is noted, and no other is kept', starts: [[3, 30]], files: [], placed: [], end: 30 },
    {
      name: 'a note is missing',
      starts: [
        [2, 20],
        [4, 41],
      ],
      files: sized(2, 11, 10, 4),
      placed: [20, 31, 41],
      end: 45,
    },
    { name: 'nothing was ever noted', starts: [], files: sized(7, 10, 4), placed: [70, 80], end: 84 },
    { name: 'notes end before the oldest file', starts: [[3, 33]], files: sized(5, 10, 4), placed: [53, 63], end: 67 },
    {
      name: 'the task removed a file in between',
      starts: [[3, 30]],
      files: [...sized(1, 10), ...sized(3, 4)],
      placed: [30],
      end: 34,
    },
    { name: 'the task removed the newest file', starts: [[3, 30]], files: sized(1, 10), placed: [], end: 30 },
    {
      name: 'a file was written after it was full',
      starts: [
        [1, 10],
        [2, 20],
      ],
      files: sized(1, 15, 4),
      placed: [10, 20],
      end: 24,
    },
    {
      name: 'numbers and sizes are those of a hostile task',
      starts: [],
      files: sized(1e15 - 2, 2 ** 60),
      placed: [Number.MAX_SAFE_INTEGER],
      end: Number.MAX_SAFE_INTEGER,
    },
  ] as const)('are those where $name', ({ starts, files, placed, end }) => {
    const found = placedFiles(new Map(starts as readonly (readonly [number, number])[]), files);
    expect({ placed: found.files.map(({ start }) => start), end: found.end }).toEqual({ placed, end });
  });

  it('give a range without holes, if it is limited', () => {
    const at = {
      files: [{ number: 1, start: 10, size: 5 }, ...[20, 30].map((start) => ({ number: start, start, size: 10 }))],
    };
    const ranges = (from: number | null, limit: number | null) => {
      const { from: first, to, parts } = rangeOf({ ...at, end: 40 }, { from, limit });
      return [first, to, parts.length];
    };
    expect(ranges(0, 100)).toEqual([10, 15, 1]);
    expect(ranges(12, 100)).toEqual([12, 15, 1]);
    expect(ranges(15, 100)).toEqual([20, 40, 2]);
    expect(ranges(17, 8)).toEqual([20, 25, 1]);
    expect(ranges(null, 100)).toEqual([20, 40, 2]);
    expect(ranges(null, 5)).toEqual([35, 40, 1]);
    expect(ranges(null, null)).toEqual([10, 40, 3]);
    expect(ranges(0, 5)).toEqual([10, 10, 0]);
    expect(ranges(99, 5)).toEqual([40, 40, 0]);
    expect(ranges(25, 0)).toEqual([25, 25, 0]);
  });
});

type Step =
  | { readonly type: 'line'; readonly length: number }
  | { readonly type: 'restart'; readonly limits: Pick<LogLimits, 'maximumFiles' | 'maximumFileBytes'> }
  | { readonly type: 'killed'; readonly after: 'note' | 'creation' };

const limits = fc.record({
  maximumFiles: fc.integer({ min: 1, max: 4 }),
  maximumFileBytes: fc.integer({ min: 1, max: 40 }),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ type: fc.constant('line' as const), length: fc.integer({ min: 0, max: 30 }) }) },
  fc.record({ type: fc.constant('restart' as const), limits }),
  fc.record({ type: fc.constant('killed' as const), after: fc.constantFrom('note' as const, 'creation' as const) }),
);

describe('ranges of the log of a function', () => {
  it('are the bytes at their positions, however files are rotated and wherever the process is killed', async () => {
    const ranges = fc.array(fc.tuple(fc.option(fc.nat(400)), fc.option(fc.nat(100))), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), ranges, async (steps, asked) => {
        rmSync(join(folder, 'logs'), { recursive: true });
        mkdirSync(join(folder, 'logs'));
        let at = { maximumFiles: 2, maximumFileBytes: 20 };
        let writer = new LogWriter(base, { ...at, disabled: false });
        let whole = '';
        let first = 0;
        for (const [number, each] of steps.entries()) {
          if (each.type === 'line') {
            const line = String.fromCharCode(97 + (number % 26)).repeat(each.length);
            writer.line(line);
            whole += `${line}\n`;
          } else {
            writer.close();
            if (each.type === 'restart') at = each.limits;
            else {
              const next = followingFile(base, continueLogSync(base, at.maximumFiles));
              if (each.after === 'creation') writeFileSync(`${base}.${next.number}`, '');
            }
            writer = new LogWriter(base, { ...at, disabled: false });
          }
          for (const [from, limit] of asked) {
            const { firstByte, endByte, files, text, ...range } = await read(from, limit);
            expect(endByte).toBe(whole.length);
            expect(firstByte).toBeGreaterThanOrEqual(first);
            first = firstByte;
            expect(text).toBe(whole.slice(range.from, range.to));
            const begin = from ?? (limit === null ? 0 : whole.length - limit);
            expect(range.from).toBe(Math.min(endByte, Math.max(firstByte, begin)));
            const end = limit === null || from === null ? endByte : Math.min(endByte, from + limit);
            expect(range.to).toBe(Math.max(range.from, end));
            if (each.type === 'line') expect(files).toBeLessThanOrEqual(at.maximumFiles + 1);
          }
        }
        writer.close();
      }),
      { numRuns: 150 },
    );
  });
});

/** Only steps of stdout: one of stderr would be in the middle of a copy of stdout, of which a kill loses what is read and not written. */
const script = (tool: string, flag: string): string => `#!/bin/sh
case $(/usr/bin/readlink "/proc/$$/fd/1") in *.stderr.*) PATH=/usr/bin:/bin exec ${tool} "$@" ;; esac
if [ -e '${flag}-before' ]; then /bin/rm '${flag}-before'; kill -KILL 0; fi
real=$(PATH=/usr/bin:/bin command -v ${tool})
"$real" "$@"
code=$?
if [ -e '${flag}-after' ]; then /bin/rm '${flag}-after'; kill -KILL 0; fi
exit $code
`;

describe('the log of a process', () => {
  const path = process.env['PATH'];
  let tools: string;
  beforeEach(() => {
    tools = join(folder, 'tools');
    mkdirSync(tools);
    for (const tool of ['dd', 'wc', 'rm'])
      writeFileSync(join(tools, tool), script(tool, join(folder, tool)), { mode: 0o755 });
    process.env['PATH'] = `${tools}:${path}`;
  });
  afterEach(() => {
    process.env['PATH'] = path;
  });

  const kills = ['dd', 'wc', 'rm'].flatMap((tool) => ['before', 'after'].map((when) => `${tool}-${when}`));

  it.each([1, 2, 3])(
    'has its bytes at their positions when its collector is killed between any two steps (%i files)',
    async (maximumFiles) => {
      const attempt = join(folder, 'attempt');
      mkdirSync(attempt);
      const begin = (when: 'first' | 'again') =>
        startCollector({
          attempt,
          base: join(folder, 'logs', 'main'),
          limits: { maximumFiles, maximumFileBytes: 4000, disabled: false },
          when,
        });
      let collector = await begin('first');
      const pipes = await Promise.all(['out', 'err'].map((name) => open(join(attempt, name), constants.O_RDWR)));
      expect(collector.ready).toBe(true);
      let whole = '';
      for (const [round, kill] of [...kills, undefined, ...kills.toReversed()].entries()) {
        if (kill !== undefined) writeFileSync(join(folder, kill), '');
        // More than two files, in writes that do not match them.
        for (let part = 0; part < 9; part += 1) {
          const text = Array.from({ length: 130 }, (_, at) => `${round}.${part}.${at}\n`).join('');
          whole += text;
          await pipes[0]?.write(text);
        }
        if (kill !== undefined) {
          await collector.ended;
          const between = await read();
          expect(between.text).toBe(whole.slice(between.from, between.to));
          collector = await begin('again');
          expect(collector.ready).toBe(true);
        }
        let last = await read();
        await eventually(patience, async () => {
          last = await read();
          return last.endByte === whole.length;
        });
        expect(last.endByte, kill ?? 'none').toBe(whole.length);
        expect(last.text).toBe(whole.slice(last.firstByte));
        expect(last.files).toBeLessThanOrEqual(maximumFiles + 1);
        const middle = Math.floor((last.firstByte + last.endByte) / 2);
        expect((await read(middle, 700)).text).toBe(whole.slice(middle, middle + 700));
        if (last.firstByte > 0) expect(await read(0, last.firstByte)).toMatchObject({ text: '', from: last.firstByte });
      }
      for (const pipe of pipes) await pipe.close();
      await collector.ended;
    },
    60_000,
  );
});

describe('where a stream continues', () => {
  it('is noted before full files are removed', async () => {
    for (const number of [3, 4, 5]) writeFileSync(`${base}.${number}`, 'x'.repeat(10));
    const next = { number: 6, size: 0, start: 60 };
    expect(await continueLog(base, 10, 1)).toEqual(next);
    expect(await read()).toMatchObject({ firstByte: 60, endByte: 60, files: 0 });
    expect(await continueLog(base, 10, 1)).toEqual(next);
    expect(continueLogSync(base, 1)).toEqual(next);
  });

  it('is where more files were kept before', async () => {
    for (const number of [0, 1, 2, 3]) writeFileSync(`${base}.${number}`, 'x'.repeat(5));
    expect(await continueLog(base, 10, 2)).toEqual({ number: 3, size: 5, start: 15 });
    expect(await read()).toMatchObject({ firstByte: 10, endByte: 20, files: 2 });
  });
});

describe('a collector that is killed without its children', () => {
  it('never changes what is at a position', async () => {
    const attempt = join(folder, 'attempt');
    mkdirSync(attempt);
    const limits = { maximumFiles: 2, maximumFileBytes: 20_000, disabled: false };
    const begin = (when: 'first' | 'again') =>
      startCollector({ attempt, base: join(folder, 'logs', 'main'), limits, when });
    let collector = await begin('first');
    const pipes = await Promise.all(['out', 'err'].map((name) => open(join(attempt, name), constants.O_RDWR)));
    const seen = new Map<number, string>();
    let [end, first] = [0, 0];
    for (let round = 0; round < 60; round += 1) {
      await pipes[0]?.write(Array.from({ length: 500 }, (_, at) => `${round}.${at}\n`).join(''));
      if (round % 6 === 5) {
        process.kill(livingCollector(attempt)?.pid ?? 0, 'SIGKILL');
        await collector.ended;
        collector = await begin('again');
      }
      const range = await read();
      expect(range.endByte).toBeGreaterThanOrEqual(end);
      expect(range.firstByte).toBeGreaterThanOrEqual(first);
      [end, first] = [range.endByte, range.firstByte];
      for (let at = first; at < end; at += 97) {
        const { text, from } = await read(at, 1);
        if (from !== at) continue;
        expect(seen.get(at) ?? text).toBe(text);
        seen.set(at, text);
      }
    }
    expect(seen.size).toBeGreaterThan(100);
    for (const pipe of pipes) await pipe.close();
  }, 60_000);
});

describe('a range that is read while the output is written', () => {
  const written = (): LogWriter => {
    const writer = new LogWriter(base, { maximumFiles: 3, maximumFileBytes: 100, disabled: false });
    for (let line = 0; line < 40; line += 1) writer.line(`line ${line}`);
    return writer;
  };

  it('is complete although all its files are removed meanwhile', async () => {
    const writer = written();
    const before = await read();
    const outputs = readLogRange(base, { from: null, limit: null });
    const first = await outputs.next();
    for (let line = 0; line < 100; line += 1) writer.line('later');
    let text = '';
    for await (const output of outputs) if (output.type === 'piece') text += Buffer.from(output.bytes).toString();
    expect(logRangeIn(first.value ?? { type: 'exited', code: 0 })).toMatchObject({ to: before.endByte });
    expect(text).toBe(before.text);
    expect((await read()).firstByte).toBeGreaterThan(before.endByte);
    writer.close();
  });

  it('fails where the task has removed bytes meanwhile, so that nobody takes a part for the whole', async () => {
    written().close();
    const outputs = readLogRange(base, { from: null, limit: null });
    await outputs.next();
    truncateSync(`${base}.${(await read()).files === 0 ? 0 : newest()}`, 3);
    const rest = async (): Promise<void> => {
      for await (const _ of outputs);
    };
    await expect(rest()).rejects.toThrow(/^the output at byte \d+ was removed while it was read$/);
  });

  it('ignores notes that a task has written', async () => {
    written().close();
    const before = await read();
    const notes = join(folder, 'logs', '.main.stdout.positions');
    writeFileSync(
      notes,
      `${readFileSync(notes, 'utf8')}garbage\n0000000000000001 000000000\n\n-1 2\n${'9'.repeat(33)}\n`,
    );
    expect(await read()).toEqual(before);
  });

  function newest(): number {
    return continueLogSync(base, 3).number;
  }
});
