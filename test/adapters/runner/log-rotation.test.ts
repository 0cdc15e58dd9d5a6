import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { rotateIfFull } from '../../../adapters/runner/log-rotation.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'signalbox-logs-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const read = (name: string): string => readFileSync(join(directory, name), 'utf8');

it('moves a full log away and leaves the task its open file', () => {
  writeFileSync(join(directory, 'main.stdout'), 'first');
  rotateIfFull(directory, 'main.stdout', 5, 10);
  appendFileSync(join(directory, 'main.stdout'), 'next');
  rotateIfFull(directory, 'main.stdout', 5, 10);
  expect(readdirSync(directory).sort()).toEqual(['main.stdout', 'main.stdout.0']);
  expect([read('main.stdout.0'), read('main.stdout')]).toEqual(['first', 'next']);
});

it('keeps the newest files within the limit, the live one counted', () => {
  for (let round = 0; round < 6; round += 1) {
    writeFileSync(join(directory, 'main.stdout'), `round ${round}`);
    rotateIfFull(directory, 'main.stdout', 1, 3);
  }
  expect(readdirSync(directory).sort()).toEqual(['main.stdout', 'main.stdout.4', 'main.stdout.5']);
  expect(read('main.stdout.5')).toBe('round 5');
});
