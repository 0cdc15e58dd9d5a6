import { describe, expect, it } from 'vitest';
import { prepareJob } from '../../src/jobs/prepare-job.js';
import { policyOfRule } from '../../src/queries/policy-rule.js';
import { batchJob, group } from '../operations/jobs/world.js';

const job = prepareJob(batchJob('work', { Meta: { team: 'a' }, TaskGroups: [group({ Count: 40 })] }))._unsafeUnwrap();
const asked = (refuse: string, message?: string) =>
  policyOfRule({ name: 'r', level: 'advisory', refuse, ...(message === undefined ? {} : { message }) })
    ._unsafeUnwrap()
    .refuse({ job, existing: undefined, callerName: '' });

describe('policyOfRule', () => {
  it.each([
    ['Priority == 80', undefined],
    ['Priority != 80', 'it matches Priority != 80'],
    ['"team" not in Meta', undefined],
    ['"owner" not in Meta', 'it matches "owner" not in Meta'],
    ['any TaskGroups as g { g.Count == 40 }', 'it matches any TaskGroups as g { g.Count == 40 }'],
    ['any TaskGroups as g { any g.Tasks as t { t.Driver == "docker" } }', undefined],
  ])('%s', (refuse, reason) => expect(asked(refuse)).toBe(reason));

  it('tells the message that the rule has', () => {
    expect(asked('Type == batch', 'batch work belongs to the other site')).toBe('batch work belongs to the other site');
  });

  it('refuses what it cannot be asked about: a member that jobs do not have', () => {
    expect(asked('Owner == "a"')).toMatch(/^its rule cannot be evaluated: /);
  });

  it('names the position of a mistake in its expression', () => {
    const fault = policyOfRule({ name: 'r', level: 'advisory', refuse: 'Priority ==' })._unsafeUnwrapErr();
    expect(fault).toMatchObject({ name: 'r', fault: { line: 1, column: 12 } });
  });
});
