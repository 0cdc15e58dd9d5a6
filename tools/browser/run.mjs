// Runs the tests in a browser, two files at a time, and those that measure times alone. A file that fails is run once more, alone: a
// browser that draws without a graphics card misses times on a machine with other work.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec as Spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const files = readdirSync(folder).filter((name) => name.endsWith('.test.mjs'));
const measuring = files.filter((name) => name === 'scale.test.mjs');

/** Runs files; returns those in which a test has failed. */
async function failing(names, concurrency) {
  const failed = new Set();
  const stream = run({ files: names.map((name) => join(folder, name)), concurrency });
  stream.on('test:fail', ({ file }) => failed.add(file.slice(folder.length)));
  for await (const text of stream.compose(new Spec())) process.stdout.write(text);
  return [...failed];
}

const failed = [
  ...(await failing(files.filter((name) => !measuring.includes(name)), 3)),
  ...(await failing(measuring, 1)),
];
if (failed.length > 0) {
  console.log(`Once more: ${failed.join(', ')}`);
  process.exitCode = (await failing(failed, 1)).length > 0 ? 1 : 0;
}
