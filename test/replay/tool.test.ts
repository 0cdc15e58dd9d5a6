import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ProgramEnd, runProgram } from '../support/run-program.js';

const equal = {
  kind: 'operator',
  operand: '=',
  left: 'a',
  left_found: true,
  right: 'a',
  right_found: true,
  answer: true,
};

describe('npm run replay', () => {
  let folder = '';
  const replay = (...args: string[]): Promise<ProgramEnd> =>
    runProgram(['node_modules/tsx/dist/cli.mjs', 'tools/replay/main.ts', ...args], process.cwd(), 60_000);

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'replay-'));
    writeFileSync(
      join(folder, 'constraints.json'),
      JSON.stringify([
        { ...equal, id: 'first' },
        { ...equal, id: 'second', answer: false },
        { ...equal, id: 'third', kind: 'device', device: null },
      ]),
    );
    mkdirSync(join(folder, 'unheard-of'));
    writeFileSync(join(folder, 'unheard-of', 'walks.json.gz'), gzipSync(JSON.stringify({ stories: [{ id: 'one' }] })));
  });

  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it('counts equal answers, tells the first difference, and ends with 1 below the need', async () => {
    const { code, output } = await replay(folder);
    expect(output.split('\n').filter((line) => line !== '')).toEqual([
      'constraints: 1 of 3 equal',
      '  second: the answer is true, not false',
      'unheard-of/walks: no player (1)',
      'sum: 1 of 4 equal (25.00 %, 100 % needed)',
    ]);
    expect(code).toBe(1);
  });

  it('ends with 0 when as many as needed are equal', async () => {
    const { code, output } = await replay(folder, '--need', '25%', '--all');
    expect(output).toContain('  third: thrown: TypeError');
    expect(code).toBe(0);
  });

  it.each([[[]], [['.', '--need', 'most']]])('refuses %j with its usage', async (args) => {
    const { code, output } = await replay(...args);
    expect(output).toContain('usage: npm run replay -- FOLDER');
    expect(code).toBe(2);
  });
});
