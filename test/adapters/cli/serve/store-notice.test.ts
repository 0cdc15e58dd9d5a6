import { afterEach, expect, it } from 'vitest';
import { endAll, signalbox, temporaryFolder } from '../cli-process.js';

afterEach(endAll);

it.each([
  ['is said of the default', [], true],
  ['is said of a store in memory', ['--store', 'memory'], true],
  ['is not said of a file', ['--store', 'sqlite:FOLDER/store.sqlite'], false],
])('that nothing is kept %s', async (_name, options, said) => {
  const named = options.map((option) => option.replace('FOLDER', temporaryFolder()));
  const server = signalbox(['serve', '--listen', '127.0.0.1:0', '--access', 'open', '--no-runner', ...named]);
  await server.origin();
  const expected = said
    ? expect.stringContaining('The store is in memory')
    : expect.not.stringContaining('The store is in memory');
  await expect.poll(() => server.error()).toEqual(expected);
});
