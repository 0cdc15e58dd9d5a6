import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ruleBookFrom, ruleFor } from '../../src/access/allows.js';
import {
  allows,
  allowsWorkspace,
  anonymousPrincipal,
  type Capability,
  capabilityFromName,
  hostPrincipal,
  type NamespaceRule,
  namespaceCapabilities,
  type Principal,
} from '../../src/index.js';
import { globMatches } from '../../src/shared/values.js';

function callerWith(namespaces: Readonly<Record<string, NamespaceRule>>): Principal {
  return { accessor: 'a', name: 'a', management: false, namespaces, workspaces: {} };
}

const rule = (policy: NamespaceRule['policy'], ...capabilities: Capability[]): NamespaceRule =>
  policy === undefined ? { capabilities } : { capabilities, policy };

describe('allows', () => {
  it.each<[string, Readonly<Record<string, NamespaceRule>>, string, Capability, boolean]>([
    ['a read policy reads', { default: rule('read') }, 'default', 'read-job', true],
    ['a read policy does not submit', { default: rule('read') }, 'default', 'submit-job', false],
    ['a write policy dispatches', { default: rule('write') }, 'default', 'dispatch-job', true],
    ['a write policy does not override', { default: rule('write') }, 'default', 'policy-override', false],
    ['a scale policy scales', { default: rule('scale') }, 'default', 'scale-job', true],
    ['a scale policy does not list', { default: rule('scale') }, 'default', 'list-jobs', false],
    ['policy and list add up', { default: rule('read', 'submit-job') }, 'default', 'submit-job', true],
    ['deny beats what stands beside it', { default: rule('write', 'deny') }, 'default', 'read-job', false],
    ['a deny policy beats capabilities', { default: rule('deny', 'read-job') }, 'default', 'read-job', false],
    ['a glob reaches further names', { 'team-*': rule('read') }, 'team-a', 'read-job', true],
    ['a glob does not reach other names', { 'team-*': rule('read') }, 'default', 'read-job', false],
    ['an exact rule beats a glob', { '*': rule('write'), 'team-a': rule('read') }, 'team-a', 'submit-job', false],
    ['an exact deny beats a glob', { '*': rule('write'), 'team-a': rule('deny') }, 'team-a', 'read-job', false],
    ['the closest glob wins', { '*': rule('write'), 'team-*': rule('deny') }, 'team-a', 'read-job', false],
    ['all namespaces: any rule is enough', { a: rule('deny'), b: rule('read') }, '*', 'read-job', true],
    ['all namespaces: none grants it', { a: rule('deny'), b: rule('scale') }, '*', 'submit-job', false],
    ['a name from the prototype is no rule', { a: rule('read') }, 'constructor', 'read-job', false],
  ])('%s', (_what, rules, namespace, capability, expected) => {
    expect(allows(callerWith(rules), namespace, [capability])).toBe(expected);
  });

  it('refuses everything to a caller without credentials and nothing to the host', () => {
    for (const capability of namespaceCapabilities) {
      expect(allows(anonymousPrincipal, 'default', [capability])).toBe(false);
      expect(allows(hostPrincipal, 'default', [capability])).toBe(true);
    }
  });

  it('reads capabilities in both vocabularies', () => {
    expect(capabilityFromName('sentinel-override')).toBe('policy-override');
    expect(capabilityFromName('policy-override')).toBe('policy-override');
    expect(capabilityFromName('submit-jobs')).toBeUndefined();
    expect(capabilityFromName('constructor')).toBeUndefined();
  });
});

describe('allowsWorkspace', () => {
  const caller: Principal = { ...callerWith({}), workspaces: { 'ws-1': 'admin', 'ws-2': 'events', 'team-*': 'admin' } };
  it.each([
    ['ws-1', 'admin', true],
    ['ws-1', 'events', true],
    ['ws-2', 'events', true],
    ['ws-2', 'admin', false],
    ['ws-3', 'events', false],
    ['team-x', 'admin', true],
  ] as const)('%s %s: %s', (workspace, right, expected) => {
    expect(allowsWorkspace(caller, workspace, right)).toBe(expected);
  });
});

describe('globs', () => {
  const name = fc.stringMatching(/^[ab-]{0,8}$/);
  const pattern = fc.stringMatching(/^[ab*-]{0,8}$/);

  it('mean the same as the regular expression', () => {
    fc.assert(
      fc.property(pattern, name, (glob, text) => {
        expect(globMatches(glob, text)).toBe(new RegExp(`^${glob.replaceAll('*', '.*')}$`).test(text));
      }),
    );
  });

  it('give a rule that does not depend on the order of the rules', () => {
    fc.assert(
      fc.property(fc.uniqueArray(pattern, { maxLength: 6 }), name, (globs, text) => {
        const inOrder = ruleBookFrom(globs.map((glob) => [glob, glob] as const));
        const reversed = ruleBookFrom([...globs].reverse().map((glob) => [glob, glob] as const));
        expect(ruleFor(inOrder, text)).toBe(ruleFor(reversed, text));
      }),
    );
  });

  it('give the rule that leaves the fewest characters to its stars', () => {
    fc.assert(
      fc.property(fc.uniqueArray(pattern, { minLength: 1, maxLength: 6 }), name, (globs, text) => {
        const left = (glob: string): number => text.length - glob.replaceAll('*', '').length;
        const matching = globs.filter((glob) => globMatches(glob, text));
        const found = ruleFor(ruleBookFrom(globs.map((glob) => [glob, glob] as const)), text);
        expect(found === undefined).toBe(matching.length === 0);
        if (found === undefined) return;
        if (globs.includes(text)) expect(found).toBe(text);
        else expect(left(found)).toBe(Math.min(...matching.map(left)));
      }),
    );
  });
});
