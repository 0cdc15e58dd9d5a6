import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { inTurns, runProgram } from '../support/run-program.js';

const folder = fileURLToPath(new URL('../../examples', import.meta.url));
const taken = inTurns(2);

/** What each example prints, as a pattern. */
const output: Readonly<Record<string, RegExp>> = {
  'http-with-tokens.mjs': /^the operator sees 0 jobs\nwithout a token: permission_denied\n$/,
  'job-file.mjs': /^hello world\n$/,
  'job-with-input.mjs': /^https:\/\/example\.net\/cat\.png to 200\n$/,
  'mail-when-a-job-fails.mjs': /^\[acme\/reports] Run Errored: failed with exit code 1 \(report\)\n$/,
  'nightly-function.mjs': /^reported for acme\n$/,
  'plan-and-revert.mjs': /^count 1 => 3\nversion 2 is version 0 again\n$/,
  'retries-in-a-test.mjs': /^delivered at attempt \d+\n$/,
  'signed-webhook.mjs': /^verified: { id: 17 }\n$/,
};

describe.concurrent('every example runs to its end', () => {
  test('each states what it prints', () => {
    const programs = readdirSync(folder).filter((name) => name.endsWith('.mjs'));
    expect(programs).toEqual(Object.keys(output));
  });

  test.each(Object.entries(output))(
    '%s',
    async (name, printed) => {
      const { code, output } = await taken(() => runProgram([join(folder, name)], folder, 60_000));
      expect(code, output).toBe(0);
      expect(output).toMatch(printed);
    },
    180_000,
  );
});
