import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { inTurns, runProgram } from '../support/run-program.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const names = readdirSync(join(root, 'examples'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);
const programs = names.filter((name) => existsSync(join(root, 'examples', name, 'main.mjs')));
const taken = inTurns(2);

describe.concurrent('every example runs to its end', () => {
  test('each has a program', () => {
    expect(names.filter((name) => name !== 'demo' && !programs.includes(name))).toEqual([]);
  });

  test.each(programs)(
    '%s',
    async (name) => {
      const folder = join(root, 'examples', name);
      const { code, output } = await taken(() => runProgram(['main.mjs'], folder, 60_000));
      expect(code, output).toBe(0);
    },
    180_000,
  );
});
