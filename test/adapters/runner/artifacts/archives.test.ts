import { spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, gzipSync } from 'node:zlib';
import { okAsync } from 'neverthrow';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ArtifactFailed,
  type ArtifactLimits,
  fetchArtifacts,
} from '../../../../adapters/runner/artifacts/task-artifacts.js';
import { type TaskPaths, taskPaths } from '../../../../adapters/runner/disk/task-target.js';
import type { TaskArtifact } from '../../../../src/jobs/document/task-parts.js';
import type { Download } from '../../../../src/ports/download.js';

let base: string;
let paths: TaskPaths;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'signalbox-archives-'));
  paths = taskPaths(join(base, 'alloc-1'), 'main');
  for (const path of [paths.local, paths.notes, paths.shared]) mkdirSync(path, { recursive: true });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

interface Header {
  readonly name: string;
  readonly type?: string;
  readonly mode?: number;
  readonly linkname?: string;
  readonly devmajor?: number;
  readonly devminor?: number;
}

interface Pack extends AsyncIterable<Buffer> {
  entry(header: Header, text: string): void;
  finalize(): void;
}

const { pack } = createRequire(import.meta.url)('tar-stream') as { pack(): Pack };

type Entry = Header & { readonly text?: string };

async function tar(...entries: Entry[]): Promise<Buffer> {
  const made = pack();
  for (const { text, ...header } of entries) made.entry(header, text ?? '');
  made.finalize();
  const parts: Buffer[] = [];
  for await (const part of made) parts.push(part);
  return Buffer.concat(parts);
}

/** A zip file without compression, with the Unix modes of its entries. */
function zip(...entries: { readonly name: string; readonly text?: string; readonly mode?: number }[]): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let at = 0;
  for (const { name, text = '', mode = 0o100644 } of entries) {
    const [bytes, content] = [Buffer.from(name), Buffer.from(text)];
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt32LE(crcOf(content), 10);
    common.writeUInt32LE(content.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(bytes.length, 22);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE((mode << 16) >>> 0, 6);
    tail.writeUInt32LE(at, 10);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, bytes, content]);
    central.push(Buffer.concat([Buffer.from('PK\x01\x02'), Buffer.from([20, 3]), common, tail, bytes]));
    locals.push(local);
    at += local.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...locals, directory, Buffer.from('PK\x05\x06'), end]);
}

/** `zlib.crc32` is not in every version of Node that runs this. */
function crcOf(bytes: Buffer): number {
  if (typeof crc32 === 'function') return crc32(bytes);
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

/** The header of a file as that of an extended header, with the sum of its bytes. */
function asExtendedHeader(header: Buffer): void {
  const raised = 'x'.charCodeAt(0) - (header[156] as number);
  header[156] = 'x'.charCodeAt(0);
  const sum = Number.parseInt(header.toString('latin1', 148, 154), 8) + raised;
  header.write(sum.toString(8).padStart(6, '0'), 148, 'latin1');
}

async function unpack(
  source: string,
  bytes: Buffer,
  change: Partial<TaskArtifact> = {},
  limits: ArtifactLimits = {},
): Promise<void> {
  const download: Download = {
    fetch: (_request, take) =>
      okAsync(undefined)
        .map(() => take(bytes))
        .map(() => bytes.length),
  };
  const artifact: TaskArtifact = {
    GetterSource: `https://h/${source}`,
    GetterOptions: null,
    GetterHeaders: null,
    GetterMode: 'any',
    GetterInsecure: false,
    RelativeDest: 'local/',
    Chown: false,
    ...change,
  };
  const task = { artifacts: [artifact], paths, fill: (text: string) => text, limits };
  await fetchArtifacts(task, download, new AbortController().signal);
}

async function refused(source: string, bytes: Buffer, limits: ArtifactLimits = {}): Promise<ArtifactFailed> {
  const failed = await unpack(source, bytes, {}, limits).catch((error: unknown) => error);
  if (!(failed instanceof ArtifactFailed)) throw new Error(`no failure of the artifact, but ${String(failed)}`);
  expect([readdirSync(paths.local), readdirSync(paths.notes), readdirSync(base)]).toEqual([[], [], ['alloc-1']]);
  return failed;
}

const local = (name: string): string => readFileSync(join(paths.local, name), 'utf8');
const modeOf = (name: string): number => lstatSync(join(paths.local, name)).mode & 0o7777;

describe('an archive', () => {
  const tree: Entry[] = [
    { name: 'app/', type: 'directory', mode: 0o750 },
    { name: 'app/bin/run', text: '#!/bin/sh', mode: 0o4755 },
    { name: './app/readme', text: 'read me', mode: 0o640 },
    { name: 'app/latest', type: 'symlink', linkname: 'bin/run' },
    { name: 'app/same', type: 'link', linkname: 'app/readme' },
  ];

  it.each([
    ['a.tar', async () => tar(...tree)],
    ['a.tar.gz', async () => gzipSync(await tar(...tree))],
    ['a.tgz', async () => gzipSync(await tar(...tree))],
    ['a?archive=tar', async () => tar(...tree)],
  ])('%s is unpacked with its permissions and links', async (source, bytes) => {
    await unpack(source, await bytes());
    expect([local('app/bin/run'), local('app/readme'), local('app/same')]).toEqual(['#!/bin/sh', 'read me', 'read me']);
    expect([modeOf('app'), modeOf('app/bin/run'), modeOf('app/readme')]).toEqual([0o750, 0o755, 0o640]);
    expect(readlinkSync(join(paths.local, 'app/latest'))).toBe('bin/run');
    expect(readdirSync(paths.notes)).toEqual(['artifacts.json']);
  });

  it('in zip form is unpacked with its permissions and links', async () => {
    const bytes = zip(
      { name: 'app/', mode: 0o040750 },
      { name: 'app/run', text: 'run', mode: 0o100755 },
      { name: 'app/link', text: 'run', mode: 0o120777 },
      { name: 'plain', text: 'x', mode: 0 },
    );
    await unpack('a.zip', bytes);
    expect([local('app/run'), local('app/link'), local('plain')]).toEqual(['run', 'run', 'x']);
    expect([modeOf('app'), modeOf('app/run'), modeOf('plain')]).toEqual([0o750, 0o755, 0o644]);
  });

  it('gives one folder of it, to where the job says', async () => {
    const bytes = await tar(...tree, { name: 'other', text: 'not wanted' }, { name: '../out', type: 'symlink' });
    await expect(unpack('a.tar//app', bytes)).rejects.toThrow('leads out');
    await unpack('a.tar//app/bin', await tar(...tree, { name: 'other', text: 'x' }), { RelativeDest: 'local/deep' });
    expect([readdirSync(paths.local), readdirSync(join(paths.local, 'deep'))]).toEqual([['deep'], ['run']]);
  });

  it('is unpacked beside existing files, and replaces those with the same name', async () => {
    mkdirSync(join(paths.local, 'app'));
    for (const name of ['app/kept', 'app/readme']) writeFileSync(join(paths.local, name), 'before');
    await unpack('a.tar', await tar(...tree));
    expect([local('app/kept'), local('app/readme')]).toEqual(['before', 'read me']);
  });

  it('is not unpacked through a link that is there', async () => {
    mkdirSync(join(base, 'outside'));
    symlinkSync(join(base, 'outside'), join(paths.local, 'app'));
    await expect(unpack('a.tar', await tar(...tree))).rejects.toThrow('is a link or a file');
    expect(readdirSync(join(base, 'outside'))).toEqual([]);
  });

  it.each<[string, Entry[]]>([
    ['a path above the folder', [{ name: 'a/../../../evil', text: 'x' }]],
    ['an absolute path', [{ name: '/tmp/signalbox-evil', text: 'x' }]],
    ['a link out of the folder', [{ name: 'evil', type: 'symlink', linkname: '../../..' }]],
    ['a link to an absolute path', [{ name: 'evil', type: 'symlink', linkname: '/etc/passwd' }]],
    [
      'links that lead out together',
      [
        { name: 'a/b/x', text: '' },
        { name: 'deep', type: 'symlink', linkname: 'a/b' },
        { name: 'evil', type: 'symlink', linkname: 'deep/../../../..' },
      ],
    ],
    [
      'a file through a link',
      [
        { name: 'way', type: 'symlink', linkname: '..' },
        { name: 'way/evil', text: 'x' },
      ],
    ],
    ['another name of a file outside', [{ name: 'evil', type: 'link', linkname: '../../secret' }]],
    ['another name of no file', [{ name: 'evil', type: 'link', linkname: 'nothing' }]],
    ['a device', [{ name: 'evil', type: 'character-device', devmajor: 1, devminor: 3 }]],
    [
      'a file where it needs a folder',
      [
        { name: 'a', text: 'x' },
        { name: 'a/b', text: 'x' },
      ],
    ],
    ['a path without end', [{ name: 'd/'.repeat(65), type: 'directory' }]],
  ])('with %s is refused, and nothing of it is left', async (_what, entries) => {
    const failed = await refused('a.tar', await tar({ name: 'good', text: 'good' }, ...entries));
    expect([failed.isFinal, existsSync('/tmp/signalbox-evil')]).toEqual([true, false]);
  });

  it.each([
    ['a path above the folder', zip({ name: '../evil', text: 'x' })],
    ['a link out of the folder', zip({ name: 'evil', text: '../..', mode: 0o120777 })],
    ['a device', zip({ name: 'evil', mode: 0o020666 })],
  ])('in zip form with %s is refused', async (_what, bytes) => {
    expect((await refused('a.zip', bytes)).message).toContain('the archive was not unpacked');
  });

  it('that is larger than what may be unpacked is refused', async () => {
    const bomb = gzipSync(await tar({ name: 'zeros', text: '0'.repeat(5_000_000) }));
    expect((await refused('a.tgz', bomb, { unpackedBytes: 1_000_000 })).message).toContain('more than 1000000 bytes');
    const many = await tar(...Array.from({ length: 11 }, (_, at) => ({ name: `f${at}`, text: '' })));
    expect((await refused('a.tar', many, { unpackedEntries: 10 })).message).toContain('more than 10 entries');
    // Folders that it does not name are made all the same.
    const deep = await tar({ name: 'a/b/c/f', text: '' }, { name: 'd/e/f', text: '' });
    expect((await refused('a.tar', deep, { unpackedEntries: 6 })).message).toContain('more than 6 entries');
    await unpack(
      'a.tar',
      await tar(...tree, { name: 'app/bin/f', text: '' }, { name: 'app/bin/g', text: '' }),
      {},
      { unpackedEntries: 8 },
    );
  });

  it.each([
    ['one header that does not end', 1, 10_000_000],
    ['headers that do not end', 100, 60 * 1024],
  ])('with %s is refused', async (_what, count, length) => {
    const bytes = await tar(...Array.from({ length: count }, () => ({ name: 'h', text: 'x'.repeat(length) })));
    const stride = 512 + Math.ceil(length / 512) * 512;
    for (let at = 0; at < count * stride; at += stride) asExtendedHeader(bytes.subarray(at, at + 512));
    expect((await refused('a.tgz', gzipSync(bytes))).message).toMatch(/header.*(?:too long|max size)/i);
  });

  it.each([
    ['a.tar', Buffer.from('no archive at all'.repeat(100))],
    ['a.tgz', Buffer.from('no archive at all')],
    ['a.zip', Buffer.from('no archive at all')],
    ['a.tgz', gzipSync(Buffer.alloc(100_000, 'x')).subarray(0, 60)],
  ])('that is damaged is fetched again: %s', async (source, bytes) => {
    expect((await refused(source, bytes)).isFinal).toBe(false);
  });
});

/** Mounting takes root, and is done with the tools of Linux. */
const isRoot = process.platform === 'linux' && process.getuid?.() === 0;

describe('an archive for which the disk has no room', () => {
  it.skipIf(!isRoot)('is no failed download: it is unpacked when there is room', async ({ skip }) => {
    const mount = (options: string): boolean =>
      spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', base], { stdio: 'ignore' }).status === 0;
    if (!mount('size=2m')) skip('no right to mount');
    try {
      for (const path of [paths.local, paths.notes, paths.shared]) mkdirSync(path, { recursive: true });
      const bytes = gzipSync(await tar({ name: 'zeros', text: '0'.repeat(5_000_000) }));
      await expect(unpack('a.tgz', bytes)).rejects.toMatchObject({ code: 'ENOSPC' });
      expect(readdirSync(paths.notes)).toEqual([]);
      expect(mount('remount,size=20m')).toBe(true);
      await unpack('a.tgz', bytes);
      expect(lstatSync(join(paths.local, 'zeros')).size).toBe(5_000_000);
    } finally {
      spawnSync('umount', ['-l', base], { stdio: 'ignore' });
    }
  });
});
