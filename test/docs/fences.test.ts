import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { inTurns, ownFolder, runProgram } from '../support/run-program.js';
import { fencesOf, programsOf } from './fence-programs.js';

/*
 * What the documents show is what readers paste: every TypeScript fence is run as a program of its own against the built
 * package, imported by its name, and checked against the types that the package has for its users.
 */

const root = fileURLToPath(new URL('../..', import.meta.url));
const generated = join(root, 'test/docs/.generated');
const guides = readdirSync(join(root, 'docs/guides')).map((name) => `docs/guides/${name}`);
const documents = ['README.md', ...guides].filter((path) => path.endsWith('.md') && existsSync(join(root, path)));
const programs = documents.flatMap((path) =>
  programsOf(readFileSync(join(root, path), 'utf8')).map((program) => {
    const file = join(generated, `${path.replaceAll(/[/.]/g, '-')}-${program.line}.ts`);
    return { path, ...program, file };
  }),
);
const taken = inTurns(3);
const loader = import.meta.resolve('tsx');

const settings = {
  extends: '../../../tsconfig.json',
  compilerOptions: { noUnusedLocals: false },
  include: ['*.ts'],
  exclude: [],
};

beforeAll(() => {
  // Of programs that keep their data in PostgreSQL.
  process.env['DATABASE_URL'] = inject('postgres');
  rmSync(generated, { recursive: true, force: true });
  mkdirSync(generated, { recursive: true });
  for (const { file, source } of programs) writeFileSync(file, source);
  writeFileSync(join(generated, 'tsconfig.json'), JSON.stringify(settings));
});
afterAll(() => rmSync(generated, { recursive: true, force: true }));

describe.concurrent('every fence', () => {
  test.each(programs)(
    'runs: $path, line $line',
    async ({ path, line, prints, file }) => {
      const { code, output } = await taken(() => runProgram(['--import', loader, file], ownFolder, 60_000, prints));
      expect(code, `${path}:${line} failed:\n${output}`).toBe(0);
    },
    240_000,
  );
  test('fits the types of the package', async () => {
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const { output } = await taken(() => runProgram([compiler, '-p', generated, '--pretty', 'false'], root, 60_000));
    // Express comes without types, so its handlers have parameters without types.
    const untyped = /error TS7016: .* module 'express'|error TS7006: /;
    const faults = output.split('\n').filter((line) => line.includes('error TS') && !untyped.test(line));
    expect(faults).toEqual([]);
  }, 240_000);
});

describe('finding fences', () => {
  const document = ['# T', '```ts', 'a();', '```', '', '```sh', 'npm i', '```', '```ts continue', 'b();', '```'].join(
    '\n',
  );
  test('continued ones make one program, on the lines of the document', () => {
    expect(programsOf(document)).toEqual([{ line: 2, prints: undefined, source: '\n\na();\n\n\n\n\n\n\nb();\n' }]);
  });
  test('a longer mark holds shorter ones', () => {
    expect(fencesOf('````md\n```ts\nx\n```\n````').map(({ language, lines }) => [language, lines.length])).toEqual([
      ['md', 3],
    ]);
  });
  test.each([
    ['from-bullmq', 'bullmq'],
    ['from-pg-boss', 'pg-boss'],
    ['from-graphile-worker', 'graphile-worker'],
    ['from-agenda', 'agenda'],
  ])('%s shows the program that is replaced without running it', (guide, library) => {
    const path = `docs/guides/${guide}.md`;
    const isImport = (line: string) => line.endsWith(` from '${library}';`);
    const importing = fencesOf(readFileSync(join(root, path), 'utf8')).filter(({ lines }) => lines.some(isImport));
    expect(importing.map(({ language }) => language)).toEqual(['js']);
    const [program, ...others] = programs.filter((each) => each.path === path);
    expect(others).toEqual([]);
    expect(program?.source).toContain("from 'signalbox/functions'");
  });
  test('each guide has a program', () => {
    const without = guides.filter(
      (path) => !path.endsWith('/README.md') && !programs.some((program) => program.path === path),
    );
    expect(without).toEqual([]);
  });
});
