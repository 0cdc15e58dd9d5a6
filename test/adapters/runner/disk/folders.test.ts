import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { moveFolder, removeFolder } from '../../../../adapters/runner/disk/folders.js';
import { asAnotherUser } from '../../../support/another-user.js';
import { removeTree } from '../../../support/remove-tree.js';

let folder = '';
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('a folder goes whatever rights a task has taken from it, and nothing that its links lead to', async () => {
  await asAnotherUser(async () => {
    folder = mkdtempSync(join(tmpdir(), 'signalbox-remove-'));
    const [removed, other] = [join(folder, 'removed'), join(folder, 'other')];
    mkdirSync(join(removed, 'locked', 'below'), { recursive: true });
    mkdirSync(other);
    writeFileSync(join(removed, 'locked', 'below', 'file'), '');
    symlinkSync(other, join(removed, 'locked', 'link'));
    chmodSync(other, 0o500);
    for (const name of ['locked/below', 'locked', '.']) chmodSync(join(removed, name), 0o000);
    await removeFolder(removed);
    expect(existsSync(removed)).toBe(false);
    expect(statSync(other).mode & 0o777).toBe(0o500);
    await removeFolder(removed);
  });
});

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

function root(parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'signalbox-move-'));
  cleanups.push(() => removeTree(folder));
  return folder;
}

const terms = (limits = {}, signal = new AbortController().signal) => ({
  limits: { maximumBytes: 1024, maximumEntries: 10, ...limits },
  signal,
});
const path = ['main', 'local'];

/** A folder with a file, a link that leads out, and a pipe. */
function filled(parent?: string): string {
  const from = root(parent);
  const folder = join(from, ...path);
  mkdirSync(join(folder, 'below'), { recursive: true });
  writeFileSync(join(folder, 'below', 'file'), 'text');
  chmodSync(join(folder, 'below', 'file'), 0o750);
  utimesSync(join(folder, 'below', 'file'), 1000, 2000);
  chmodSync(join(folder, 'below'), 0o550);
  symlinkSync('/etc/passwd', join(folder, 'link'));
  return from;
}

function expectMoved(from: string, to: string): void {
  const target = join(to, ...path);
  expect(existsSync(join(from, ...path))).toBe(false);
  expect(readFileSync(join(target, 'below', 'file'), 'utf8')).toBe('text');
  expect(statSync(join(target, 'below', 'file')).mode & 0o777).toBe(0o750);
  expect(statSync(join(target, 'below', 'file')).mtimeMs).toBe(2_000_000);
  expect(statSync(join(target, 'below')).mode & 0o777).toBe(0o550);
  expect(readlinkSync(join(target, 'link'))).toBe('/etc/passwd');
  expect(readdirSync(join(to, 'main'))).toEqual(['local']);
}

/** Another file system than that of the temporary folder; undefined where there is none. */
const elsewhere = ['/dev/shm', '/run/shm'].find(
  (folder) => existsSync(folder) && statSync(folder).dev !== statSync(tmpdir()).dev,
);

describe.each([['the same file system', tmpdir()], ...(elsewhere === undefined ? [] : [['another one', elsewhere]])])(
  'a folder that goes to %s',
  (_name, parent) => {
    it('arrives as it was, in place of an empty folder', async () => {
      const [from, to] = [filled(parent), root()];
      mkdirSync(join(to, ...path), { recursive: true });
      expect(await moveFolder(from, to, path, terms())).toEqual({ omitted: 0 });
      expectMoved(from, to);
      expect(await moveFolder(from, to, path, terms())).toBe('absent');
      expectMoved(from, to);
    });

    it('stays when the target has data of its own', async () => {
      const [from, to] = [filled(parent), root()];
      mkdirSync(join(to, ...path), { recursive: true });
      writeFileSync(join(to, ...path, 'own'), '');
      expect(await moveFolder(from, to, path, terms())).toBe('kept');
      expect(readdirSync(join(from, ...path))).toEqual(['below', 'link']);
      expect([readdirSync(join(to, 'main')), readdirSync(join(to, ...path))]).toEqual([['local'], ['own']]);
    });

    it.each(['main', 'main/local'])('stays when %s is a link', async (link) => {
      const [behind, from, to] = [filled(parent), root(parent), root()];
      if (link !== 'main') mkdirSync(join(from, 'main'));
      symlinkSync(join(behind, link), join(from, link));
      mkdirSync(join(to, 'main'));
      expect(await moveFolder(from, to, path, terms())).toBe('refused');
      expect(readdirSync(join(behind, ...path))).toEqual(['below', 'link']);
    });

    it('does not go through a link at the target', async () => {
      const [from, to, behind] = [filled(parent), root(), root()];
      symlinkSync(behind, join(to, 'main'));
      expect(await moveFolder(from, to, path, terms())).toBe('refused');
      expect(readdirSync(behind)).toEqual([]);
    });
  },
);

it('moves a folder that its task has made unreadable and read-only', async () => {
  await asAnotherUser(async () => {
    const [from, to] = [filled(), root()];
    chmodSync(join(from, ...path), 0o111);
    mkdirSync(join(to, ...path), { recursive: true });
    expect(await moveFolder(from, to, path, terms())).toEqual({ omitted: 0 });
    expectMoved(from, to);
    expect(statSync(join(to, ...path)).mode & 0o777).toBe(0o111);
    chmodSync(join(to, ...path), 0o755);
    chmodSync(join(to, ...path, 'below'), 0o755);
  });
});

describe.skipIf(elsewhere === undefined)('a copy from another file system', () => {
  it.each([
    ['bytes', { maximumBytes: 3 }, /^it is larger than .* MiB/],
    ['files', { maximumEntries: 2 }, /^it contains more than 2 files/],
  ])('of too many %s leaves both sides as they are', async (_name, limits, message) => {
    const [from, to] = [filled(elsewhere), root()];
    mkdirSync(join(to, ...path), { recursive: true });
    await expect(moveFolder(from, to, path, terms(limits))).rejects.toThrow(message);
    expect(readdirSync(join(from, ...path))).toEqual(['below', 'link']);
    expect([readdirSync(join(to, 'main')), readdirSync(join(to, ...path))]).toEqual([['local'], []]);
  });

  it('of too much says so, and leaves nothing, also without the rights of root', async () => {
    await asAnotherUser(async () => {
      const [from, to] = [filled(elsewhere), root()];
      mkdirSync(join(to, ...path), { recursive: true });
      writeFileSync(join(from, ...path, 'more'), 'x'.repeat(2000));
      await expect(moveFolder(from, to, path, terms())).rejects.toThrow(/^it is larger than/);
      expect(readdirSync(join(to, 'main'))).toEqual(['local']);
    });
  });

  it('that is broken off leaves the source', async () => {
    const [from, to] = [filled(elsewhere), root()];
    mkdirSync(join(to, ...path), { recursive: true });
    await expect(moveFolder(from, to, path, terms({}, AbortSignal.abort()))).rejects.toThrow();
    expect(readdirSync(join(from, ...path))).toEqual(['below', 'link']);
    expect(readdirSync(join(to, ...path))).toEqual([]);
  });

  it('begins again after a kill', async () => {
    const [from, to] = [filled(elsewhere), root()];
    mkdirSync(join(to, ...path), { recursive: true });
    mkdirSync(join(to, 'main', '.incoming'));
    writeFileSync(join(to, 'main', '.incoming', 'half'), '');
    expect(await moveFolder(from, to, path, terms())).toEqual({ omitted: 0 });
    expectMoved(from, to);
  });

  it('tells how many pipes it left out', async () => {
    const [from, to] = [filled(elsewhere), root()];
    execFileSync('mkfifo', [join(from, ...path, 'pipe')]);
    mkdirSync(join(to, ...path), { recursive: true });
    expect(await moveFolder(from, to, path, terms())).toEqual({ omitted: 1 });
    expect(lstatSync(join(to, ...path, 'link')).isSymbolicLink()).toBe(true);
    expectMoved(from, to);
  });
});
