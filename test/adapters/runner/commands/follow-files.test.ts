import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { followLogs } from '../../../../adapters/runner/commands/follow-files.js';

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
    const first = follow(true).next();
    writeFileSync(join(folder, 'logs', 'main.stdout.0'), 'begun\n');
    const { value } = await first;
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
