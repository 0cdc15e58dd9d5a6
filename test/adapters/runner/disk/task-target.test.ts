import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  readWhole,
  type TaskPaths,
  targetOf,
  taskPaths,
  writeWhole,
} from '../../../../adapters/runner/disk/task-target.js';

let base: string;
let paths: TaskPaths;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'signalbox-file-'));
  paths = taskPaths(join(base, 'alloc-1'), 'main');
  for (const path of [paths.local, paths.secrets, paths.notes, paths.shared]) mkdirSync(path, { recursive: true });
  writeFileSync(join(base, 'host'), 'host');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const owner = { mode: 0o640, uid: null, gid: null };
const write = async (path: string) => writeWhole(targetOf(paths, path), 'new', owner);

describe('a file of a task', () => {
  it.each([
    ['local/a/b', 'main/local/a/b'],
    ['/local/a', 'main/local/a'],
    ['../alloc/data/x', 'alloc/data/x'],
    ['local/../secrets/x', 'main/secrets/x'],
  ])('%s is written at %s', async (path, target) => {
    await write(path);
    const file = join(base, 'alloc-1', target);
    expect(readFileSync(file, 'utf8')).toBe('new');
    expect(statSync(file).mode & 0o777).toBe(0o640);
  });

  it('may be named whole, as the environment of the task names it', async () => {
    await write(join(paths.secrets, 'x'));
    await write(join(paths.shared, 'x'));
    expect([existsSync(join(paths.secrets, 'x')), existsSync(join(paths.shared, 'x'))]).toEqual([true, true]);
  });

  it.each([
    '..',
    '../../host',
    '../side/local/x',
    'private/state.json',
    'local/../private/state.json',
    'local/a\0b',
    '.',
    '',
    '/..',
  ])('refuses %j', async (path) => {
    await expect(write(path)).rejects.toThrow(/outside|NUL|itself/);
    expect(readFileSync(join(base, 'host'), 'utf8')).toBe('host');
  });

  it('follows no link on the way, and replaces one at the end', async () => {
    symlinkSync(base, join(paths.local, 'way'));
    symlinkSync(join(base, 'host'), join(paths.local, 'end'));
    symlinkSync(join(base, 'host'), join(paths.local, '.draft.new'));
    await expect(write('local/way/host')).rejects.toThrow('is a link');
    await write('local/end');
    await write('local/draft');
    expect(readFileSync(join(base, 'host'), 'utf8')).toBe('host');
    expect(readFileSync(join(paths.local, 'end'), 'utf8')).toBe('new');
  });

  it('leaves folders alone', async () => {
    mkdirSync(join(paths.local, 'folder'));
    await expect(write('local/folder')).rejects.toThrow('is a directory');
    await write('local/file');
    await expect(write('local/file/below')).rejects.toThrow('not a directory');
  });

  it('is read within its folder, whatever links say, up to a size', async () => {
    writeFileSync(join(paths.local, 'x'), 'text');
    writeFileSync(join(paths.notes, 'note'), 'secret');
    symlinkSync('x', join(paths.local, 'inside'));
    symlinkSync(join(base, 'host'), join(paths.local, 'outside'));
    symlinkSync(join(paths.notes, 'note'), join(paths.local, 'note'));
    const read = (path: string, limit = 100) => readWhole(targetOf(paths, path), limit);
    expect(await read('local/inside')).toBe('text');
    expect(await read('local/none')).toBeUndefined();
    await expect(read('local/outside')).rejects.toThrow('leads outside the task');
    await expect(read('local/note')).rejects.toThrow('leads outside the task');
    await expect(read('local')).rejects.toThrow('not a file');
    await expect(read('local/x', 3)).rejects.toThrow('longer');
  });
});
