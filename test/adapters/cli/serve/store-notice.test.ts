import { afterEach, expect, it } from 'vitest';
import { endAll, signalbox, temporaryFolder } from '../cli-process.js';

afterEach(endAll);

it.each([
  ['is said', [], {}, true],
  ['is left out for a store in memory that was named', ['--store', 'memory'], {}, false],
  ['is left out where the environment names one', [], { SIGNALBOX_STORE: 'memory' }, false],
  ['is left out for a file', ['--store', 'sqlite:FOLDER/store.sqlite'], {}, false],
])('that a server keeps nothing %s', async (_name, options, environment, said) => {
  const named = options.map((option) => option.replace('FOLDER', temporaryFolder()));
  const server = signalbox(
    ['serve', '--listen', '127.0.0.1:0', '--access', 'open', '--no-runner', ...named],
    environment,
  );
  await server.origin();
  expect(server.error().includes('Nothing is kept')).toBe(said);
});
