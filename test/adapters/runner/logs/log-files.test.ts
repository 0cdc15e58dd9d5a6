import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LogWriter } from '../../../../adapters/runner/logs/log-collector.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-log-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const limits = { maximumFiles: 2, maximumFileBytes: 10, disabled: false };

test('lines go on in the next file when one is full, and the newest files are kept', () => {
  const writer = new LogWriter(join(folder, 'main.stdout'), limits);
  for (const line of ['one', 'two', 'three', 'four', 'five']) writer.line(line);
  writer.close();
  const files = [0, 1, 2].map((number) => join(folder, `main.stdout.${number}`));
  expect(files.map((file) => existsSync(file) && readFileSync(file, 'utf8'))).toEqual([
    false,
    'three\n',
    'four\nfive\n',
  ]);
});

test('a link in place of the file is not written through', () => {
  symlinkSync(join(folder, 'elsewhere'), join(folder, 'main.stdout.0'));
  const writer = new LogWriter(join(folder, 'main.stdout'), limits);
  writer.line('one');
  writer.close();
  expect(existsSync(join(folder, 'elsewhere'))).toBe(false);
});

test('a pipe in place of the file does not hold the process', () => {
  execFileSync('mkfifo', [join(folder, 'main.stdout.0')]);
  const writer = new LogWriter(join(folder, 'main.stdout'), limits);
  writer.line('one');
  writer.close();
  expect(existsSync(join(folder, 'main.stdout.0'))).toBe(true);
});
