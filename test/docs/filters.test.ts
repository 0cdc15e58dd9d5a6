import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { compileFilter } from '../../src/operations/listing/filters.js';
import { jobFrom } from '../support/jobs.js';
import { fencesOf } from './fence-programs.js';

const fences = fencesOf(readFileSync('docs/filters.md', 'utf8')).filter(({ language }) => language === 'filter');
const examples = fences.flatMap(({ lines }) => lines);

it('shows examples', () => {
  expect(examples.length).toBeGreaterThan(15);
});

it.each(examples)('the example %s can be asked of any job', (example) => {
  const filter = compileFilter.job(example)._unsafeUnwrap();
  for (const job of [jobFrom({}), jobFrom({ Type: 'batch', Periodic: { Specs: ['@daily'] }, Meta: { team: 'ops' } })]) {
    expect(typeof filter.matches(job)._unsafeUnwrap()).toBe('boolean');
  }
});
