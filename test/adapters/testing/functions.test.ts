import { expect, test } from 'vitest';
import { testEngine } from '../../../adapters/testing/index.js';
import { defineFunction } from '../../../src/functions.js';

test('functions of a service run on virtual time, a year of nightly launches with retries included', async () => {
  const reports: Date[] = [];
  const nightly = defineFunction({ name: 'nightly-report', cron: '30 2 * * *' }, (_input, run) => {
    if (run.attempt < 3) throw new Error('the database is busy');
    reports.push(run.dueAt);
  });
  const greet = defineFunction<string, string, string>({ name: 'greet' }, (name) => `Hello ${name}`);
  await using box = await testEngine({ functions: [nightly, greet] });
  const run = await box.functions.enqueue(greet, 'Ada', { delay: '10m' });
  await box.idle();
  expect((await run.status()).state).toBe('scheduled');
  await box.advance('10m');
  expect(await run.result()).toBe('Hello Ada');
  const before = process.cpuUsage();
  await box.advance('1y');
  const { user, system } = process.cpuUsage(before);
  // Twice the time that an idle machine takes, and more: a year is 365 launches with three attempts each.
  expect((user + system) / 1000).toBeLessThan(4000);
  expect(reports).toHaveLength(365);
  await expect(box.advance('soon')).rejects.toThrow('duration takes milliseconds or a string such as 30s');
});
