import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { admitJob } from '../../../src/jobs/admission/admit-job.js';
import { canonicaliseJob } from '../../../src/jobs/canonical/canonicalise-job.js';
import { decodeJob } from '../../../src/jobs/document/decode-job.js';
import type { JobInput as StrictJobInput } from '../../../src/jobs/document/submitted-job.js';
import { jobInputs } from '../../support/job-inputs.js';
import type { Loose } from '../../support/loose.js';
import { canonicalJob } from '../canonical-job.js';

/** Also with values that the type forbids. */
type JobInput = Loose<StrictJobInput>;

function admitted(input: JobInput, region = 'here') {
  return admitJob(canonicaliseJob(decodeJob(input)._unsafeUnwrap()), { region });
}

function group(input: JobInput) {
  const first = canonicalJob(input).TaskGroups[0];
  if (first === undefined) throw new Error('the job has no group');
  return first;
}

describe('what the installation adds', () => {
  test.each([
    ['eu', 'eu'],
    ['global', 'here'],
    [null, 'here'],
    // Not a region: validation says so.
    ['', ''],
  ])('the region %s becomes %s', (Region, expected) => {
    expect(admitted({ ID: 'web', Region })._unsafeUnwrap().Region).toBe(expected);
  });

  test('a job over several regions keeps the word for any region', () => {
    expect(admitted({ ID: 'web', Region: 'eu', Multiregion: {} })._unsafeUnwrap().Region).toBe('global');
  });

  test.each([
    [null, 'default'],
    ['', 'default'],
    ['gpu', 'gpu'],
  ])('the node pool %s becomes %s', (NodePool, expected) => {
    expect(admitted({ ID: 'web', NodePool })._unsafeUnwrap().NodePool).toBe(expected);
  });
});

describe('implied constraints', () => {
  const attr = (name: string) => `\${attr.${name}}`;
  const constraintsOf = (part: NonNullable<JobInput['TaskGroups']>[number]) =>
    (group({ TaskGroups: [part] }).Constraints ?? []).map((c) => `${c.LTarget} ${c.Operand} ${c.RTarget}`.trim());

  test.each([
    [{ Tasks: [{ Vault: {} }] }, [`${attr('vault.version')} semver >= 0.6.1`]],
    [{ Services: [{}] }, [`${attr('consul.version')} semver >= 1.8.0`]],
    [{ Services: [{ Provider: 'nomad' }] }, [`${attr('nomad.service_discovery')} = true`]],
    [
      { Services: [{ Provider: 'nomad', Checks: [{}] }] },
      [`${attr('nomad.service_discovery')} = true`, `${attr('nomad.version')} semver >= 1.4.0`],
    ],
    [
      { Tasks: [{ KillSignal: 'SIGUSR1', Templates: [{ ChangeMode: 'signal' }] }, { KillSignal: 'SIGHUP' }] },
      [`${attr('os.signals')} set_contains SIGHUP,SIGUSR1`],
    ],
    [
      { Networks: [{ Mode: 'bridge' }] },
      ['bridge', 'firewall', 'host-local', 'loopback', 'portmap'].map(
        (plugin) => `${attr(`plugins.cni.version.${plugin}`)} semver >= 0.4.0`,
      ),
    ],
    [{ Tasks: [{ Secrets: [{ Provider: 'p' }] }] }, [`${attr('plugins.secrets.p.version')} is_set`]],
    [{ Consul: { Partition: 'p' } }, [`${attr('consul.partition')} = p`]],
    [{ Tasks: [{ Identities: [{ Name: 'x' }] }] }, [`${attr('nomad.version')} semver >= 1.7.0-a`]],
    [{ Tasks: [{}] }, []],
  ])('%j implies %j', (part, expected) => {
    expect(constraintsOf(part)).toEqual(expected);
  });

  test("the author's constraint on the same attribute stands in", () => {
    const own = { LTarget: attr('vault.version'), Operand: 'semver', RTarget: '>= 1.0.0' };
    expect(constraintsOf({ Constraints: [own], Tasks: [{ Vault: {} }] })).toEqual([`${own.LTarget} semver >= 1.0.0`]);
  });
});

describe('properties', () => {
  test('admitting an admitted job changes nothing', () => {
    fc.assert(
      fc.property(jobInputs, (input) => {
        const once = admitted(input);
        if (once.isErr()) return;
        expect(admitJob(once.value, { region: 'here' })._unsafeUnwrap()).toEqual(once.value);
      }),
      { numRuns: 60 },
    );
  });
});
