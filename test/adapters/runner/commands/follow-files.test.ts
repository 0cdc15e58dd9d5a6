import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { followLogs } from '../../../../adapters/runner/commands/allocation-files.js';

let folder: string;
let reading: AbortController;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-follow-'));
  reading = new AbortController();
});

afterEach(() => {
  reading.abort();
  rmSync(folder, { recursive: true, force: true });
});

const follow = (isFollowed: boolean) =>
  followLogs(join(folder, 'logs', 'main.stdout'), { offset: 0, origin: 'start', follow: isFollowed }, reading.signal)[
    Symbol.asyncIterator
  ]();

describe('output of which nothing is kept yet', () => {
  it('is waited for when it is followed', async () => {
    mkdirSync(join(folder, 'logs'));
    const outputs = follow(true);
    const first = outputs.next();
    writeFileSync(join(folder, 'logs', 'main.stdout.0'), 'begun\n');
    const { value } = await first;
    await outputs.return(undefined);
    expect(value).toMatchObject({ type: 'piece', offset: 6 });
    expect(value?.type === 'piece' && Buffer.from(value.bytes).toString()).toBe('begun\n');
  });

  it('is empty when it is not followed', async () => {
    mkdirSync(join(folder, 'logs'));
    expect(await follow(false).next()).toMatchObject({ done: true });
  });

  it('is waited for no longer than the reader is there', async () => {
    mkdirSync(join(folder, 'logs'));
    const first = follow(true).next();
    reading.abort();
    expect(await first).toMatchObject({ done: true });
  });

  it('never comes when the allocation is gone', async () => {
    expect(await follow(true).next()).toMatchObject({ done: true });
  });
});

describe('what a task has put between the files of its output', () => {
  const written = async (): Promise<string> => {
    const texts: string[] = [];
    for await (const output of { [Symbol.asyncIterator]: () => follow(false) }) {
      if (output.type === 'piece') texts.push(Buffer.from(output.bytes).toString());
    }
    return texts.join('');
  };

  it('is not read through a link', async () => {
    mkdirSync(join(folder, 'logs'));
    writeFileSync(join(folder, 'secret'), 'of somebody else\n');
    writeFileSync(join(folder, 'logs', 'main.stdout.0'), 'own\n');
    symlinkSync(join(folder, 'secret'), join(folder, 'logs', 'main.stdout.1'));
    expect(await written()).toBe('own\n');
  });

  it('holds nobody when it is a pipe', async () => {
    mkdirSync(join(folder, 'logs'));
    writeFileSync(join(folder, 'logs', 'main.stdout.0'), 'own\n');
    execFileSync('mkfifo', [join(folder, 'logs', 'main.stdout.1')]);
    expect(await written()).toBe('own\n');
  });

  it('counts only under a number that the runner would have written', async () => {
    mkdirSync(join(folder, 'logs'));
    writeFileSync(join(folder, 'logs', 'main.stdout.0'), 'own\n');
    for (const name of ['007', '1e3', '9'.repeat(30)]) {
      writeFileSync(join(folder, 'logs', `main.stdout.${name}`), 'other\n');
    }
    expect(await written()).toBe('own\n');
  });
});

describe('a folder of logs in which a task has made many files', () => {
  beforeEach(() => {
    mkdirSync(join(folder, 'logs'));
    for (let number = 0; number < 500; number += 1) {
      writeFileSync(join(folder, 'logs', `main.stdout.${number}`), number === 499 ? 'last' : '');
    }
  });

  /** The first piece, and how many turns of the loop came before it. */
  async function firstOf(position: Parameters<typeof followLogs>[1]) {
    let turns = 0;
    let isOver = false;
    const turn = (): void => {
      turns += 1;
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    const outputs = followLogs(join(folder, 'logs', 'main.stdout'), position, reading.signal);
    const { value } = await outputs.next();
    isOver = true;
    await outputs.return(undefined);
    return { value, turns };
  }

  it.each(['start', 'end'] as const)('holds up nobody while it is read from its %s', async (origin) => {
    const { value, turns } = await firstOf({ offset: 2, origin, follow: true });
    expect(value).toMatchObject({ type: 'piece', file: 'alloc/logs/main.stdout.499' });
    expect(value?.type === 'piece' && Buffer.from(value.bytes).toString()).toBe('st');
    expect(turns).toBeGreaterThan(5);
  });
});
