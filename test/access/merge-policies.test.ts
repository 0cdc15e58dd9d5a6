import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  allows,
  allowsArea,
  allowsHostVolume,
  allowsNamespace,
  allowsNodePool,
  allowsSomeVariable,
  allowsVariable,
  mergePolicies,
} from '../../src/access/allows.js';
import { type Capability, capabilityFromName } from '../../src/access/capability.js';
import { type Policy, parsePolicy } from '../../src/access/policy/parse-policy.js';
import type { Principal } from '../../src/access/principal.js';

const nobody = { accessor: 'a', name: 'a', management: false, namespaces: {}, workspaces: {} };

function callerWith(...texts: readonly string[]): Principal {
  return { ...nobody, ...mergePolicies(texts.map((text) => parsePolicy(text)._unsafeUnwrap())) };
}

const at = (namespace: string, path: string) => ({ namespace, path });

describe('the closest name', () => {
  it.each<[string, string, boolean, boolean, boolean]>([
    ['namespace "a*" { policy = "read" }', 'a, ab, b', true, true, false],
    ['namespace "*" { policy = "read" } namespace "ab*" { policy = "deny" }', 'a, ab, b', true, false, true],
    ['namespace "*" { policy = "deny" } namespace "a-run" { policy = "read" }', 'a, ab, b', true, false, false],
    ['namespace "*-run" { policy = "read" }', 'a, ab, b', true, true, true],
    ['namespace "a*" { policy = "read" } namespace "a*-run" { policy = "deny" }', 'a, ab, b', false, false, false],
    ['namespace "a" { policy = "read" }', 'a, ab, b', false, false, false],
  ])('%s', (rules, _of, a, ab, b) => {
    const caller = callerWith(rules);
    expect(['a-run', 'ab-run', 'b-run'].map((name) => allows(caller, name, ['read-job']))).toEqual([a, ab, b]);
    expect(['a-run', 'ab-run', 'b-run'].map((name) => allowsNamespace(caller, name))).toEqual([a, ab, b]);
  });
});

describe('several policies', () => {
  it('add up, and a deny takes all away, in any order', () => {
    const texts = ['namespace "a" { policy = "read" }', 'namespace "a" { capabilities = ["submit-job"] }'];
    for (const order of [texts, texts.toReversed()]) {
      expect(allows(callerWith(...order), 'a', ['submit-job'])).toBe(true);
      expect(allows(callerWith(...order), 'a', ['read-job'])).toBe(true);
      const denied = callerWith(...order, 'namespace "a" { policy = "deny" }');
      expect(allows(denied, 'a', ['read-job', 'submit-job'])).toBe(false);
      expect(allowsNamespace(denied, 'a')).toBe(false);
      expect(allows(denied, '*', ['read-job'])).toBe(false);
    }
  });

  it('give the strongest level of an area, and a deny beats it', () => {
    expect(allowsArea(callerWith('node { policy = "read" }', 'node { policy = "write" }'), 'node', 'write')).toBe(true);
    expect(allowsArea(callerWith('node { policy = "write" }', 'node { policy = "deny" }'), 'node', 'read')).toBe(false);
    expect(allowsArea(callerWith('node { policy = "scale" }'), 'node', 'read')).toBe(false);
    expect(allowsArea(callerWith('plugin { policy = "list" }'), 'plugin', 'read')).toBe(false);
    expect(allowsArea(callerWith('plugin { policy = "list" }'), 'plugin', 'list')).toBe(true);
    expect(allowsArea(callerWith('plugin { policy = "read" }'), 'plugin', 'list')).toBe(true);
    expect(allowsArea(callerWith('agent { policy = "read" }'), 'agent', 'write')).toBe(false);
    expect(allowsArea(callerWith('agent { policy = "write" }'), 'operator', 'read')).toBe(false);
  });

  it('add up for node pools and host volumes', () => {
    const caller = callerWith(
      'node_pool "gpu-*" { policy = "write" } host_volume "db" { policy = "read" } node_pool "__proto__" { policy = "read" }',
      'node_pool "gpu-a" { policy = "read" } host_volume "db" { capabilities = ["mount-readwrite"] }',
    );
    expect(allowsNodePool(caller, 'gpu-b', 'delete')).toBe(true);
    expect(allowsNodePool(caller, 'gpu-a', 'write')).toBe(false);
    expect(allowsNodePool(caller, '__proto__', 'read')).toBe(true);
    expect(allowsNodePool(caller, 'constructor', 'read')).toBe(false);
    expect(allowsHostVolume(caller, 'db', 'mount-readwrite')).toBe(true);
    expect(allowsHostVolume(caller, 'other', 'mount-readonly')).toBe(false);
  });
});

describe('variables', () => {
  it('are asked by namespace and path together', () => {
    const caller = callerWith(
      'namespace "a*" { variables { path "web/*" { capabilities = ["write"] } path "web/secret" { capabilities = ["deny"] } } }',
      'namespace "ab" { variables { path "web/one" { capabilities = ["read"] } path "*" { capabilities = ["list"] } } }',
    );
    expect(allowsVariable(caller, at('a1', 'web/x'), 'write')).toBe(true);
    expect(allowsVariable(caller, at('a1', 'web/x'), 'read')).toBe(false);
    expect(allowsVariable(caller, at('a1', 'web/secret'), 'write')).toBe(false);
    expect(allowsVariable(caller, at('ab', 'web/one'), 'list')).toBe(true);
    expect(allowsVariable(caller, at('ab', 'web/one'), 'write')).toBe(false);
    expect(allowsVariable(caller, at('b', 'web/x'), 'write')).toBe(false);
    expect(allowsVariable(caller, at('a', 'web'), 'write')).toBe(false);
    expect(allowsSomeVariable(caller)).toBe(true);
    expect(allowsSomeVariable(callerWith('namespace "a" { policy = "write" }'))).toBe(false);
  });

  it('are denied by any policy that denies the same path', () => {
    const texts = ['read', 'deny', 'write'].map(
      (right) => `namespace "a" { variables { path "p" { capabilities = ["${right}"] } } }`,
    );
    expect(allowsVariable(callerWith(...texts), at('a', 'p'), 'read')).toBe(false);
  });

  it('of its own job may be read and listed by a task', () => {
    const workload = { namespace: 'default', jobId: 'web', group: 'app', task: 'main' };
    const task = (text = ''): Principal => ({ ...callerWith(text), workload });
    for (const path of ['nomad/jobs', 'nomad/jobs/web', 'nomad/jobs/web/app', 'nomad/jobs/web/app/main']) {
      expect(allowsVariable(task(), at('default', path), 'read')).toBe(true);
      expect(allowsVariable(task(), at('default', path), 'list')).toBe(true);
      expect(allowsVariable(task(), at('default', path), 'write')).toBe(false);
      expect(allowsVariable(task(), at('other', path), 'read')).toBe(false);
      const denied = `namespace "default" { variables { path "${path}" { capabilities = ["deny"] } } }`;
      expect(allowsVariable(task(denied), at('default', path), 'read')).toBe(false);
    }
    for (const path of ['nomad/jobs/web/app/other', 'nomad/jobs/other', 'web', 'nomad/jobs/web/app/main/x']) {
      expect(allowsVariable(task(), at('default', path), 'read')).toBe(false);
    }
  });
});

describe('properties', () => {
  const names = fc.constantFrom('*', 'a*', '*b', 'a*b', 'ab', 'a', 'b', '**', 'a**b');
  const capability = fc.constantFrom<string>('read-job', 'list-jobs', 'submit-job', 'host-volume-write', 'deny');
  const word = fc.constantFrom('', '', 'read', 'write', 'deny');
  const policy = fc
    .array(fc.tuple(names, word, fc.array(capability, { maxLength: 3 })), { minLength: 1, maxLength: 4 })
    .map((rules) =>
      rules
        .map(([name, level, granted]) => {
          const policyLine = level === '' ? '' : `policy = "${level}"`;
          return `namespace "${name}" { ${policyLine} capabilities = ${JSON.stringify(granted)} }`;
        })
        .join('\n'),
    );
  const asked = ['ab', 'aab', 'a', 'b', 'xb', 'c', 'axb'];
  const questions: readonly Capability[] = ['read-job', 'list-jobs', 'submit-job', 'host-volume-read', 'alloc-exec'];

  /** The same by the words of the interface: no compiling, no sorting, regular expressions. */
  function naively(policies: readonly Policy[], namespace: string, wanted: Capability): boolean {
    const all = policies.flatMap(({ Namespaces }) => Namespaces ?? []);
    const matching = all.filter(({ Name }) => new RegExp(`^${Name.replaceAll('*', '.*')}$`).test(namespace));
    const left = (name: string): number =>
      name === namespace ? -1 : namespace.length - name.replaceAll('*', '').length;
    const least = Math.min(...matching.map(({ Name }) => left(Name)));
    const closest = matching
      .map(({ Name }) => Name)
      .filter((name) => left(name) === least)
      .sort()[0];
    const granted = all.filter(({ Name }) => Name === closest).flatMap(({ Capabilities }) => Capabilities ?? []);
    return !granted.includes('deny') && granted.some((name) => capabilityFromName(name) === wanted);
  }

  it('the compiled answer is the naive one', () => {
    fc.assert(
      fc.property(fc.array(policy, { maxLength: 4 }), (texts) => {
        const caller = callerWith(...texts);
        const policies = texts.map((text) => parsePolicy(text)._unsafeUnwrap());
        for (const namespace of asked) {
          for (const wanted of questions) {
            expect(allows(caller, namespace, [wanted]), `${namespace} ${wanted}`).toBe(
              naively(policies, namespace, wanted),
            );
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it('a policy that names nothing new and denies nothing takes nothing away', () => {
    fc.assert(
      fc.property(fc.array(policy, { minLength: 1, maxLength: 3 }), policy, (texts, further) => {
        const before = texts.map((text) => parsePolicy(text)._unsafeUnwrap());
        const known = new Set(before.flatMap(({ Namespaces }) => (Namespaces ?? []).map(({ Name }) => Name)));
        const parsed = parsePolicy(further)._unsafeUnwrap();
        const harmless = (parsed.Namespaces ?? []).filter(
          ({ Name, Capabilities }) => known.has(Name) && Capabilities?.includes('deny') !== true,
        );
        const with_ = { ...nobody, ...mergePolicies([...before, { ...parsed, Namespaces: harmless }]) };
        const without = { ...nobody, ...mergePolicies(before) };
        for (const namespace of [...asked, '*']) {
          for (const wanted of questions) {
            if (allows(without, namespace, [wanted])) expect(allows(with_, namespace, [wanted])).toBe(true);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it('the order of policies means nothing', () => {
    fc.assert(
      fc.property(fc.array(policy, { maxLength: 4 }), (texts) => {
        const [one, other] = [callerWith(...texts), callerWith(...texts.toReversed())];
        for (const namespace of asked) {
          for (const wanted of questions) {
            expect(allows(one, namespace, [wanted])).toBe(allows(other, namespace, [wanted]));
          }
        }
      }),
    );
  });
});
