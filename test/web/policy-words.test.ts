import { expect, it } from 'vitest';
import { parsePolicy } from '../../src/access/policy/parse-policy.js';
import { faultPosition, offsetOf, ruleLines } from '../../web/rules/policy-words.js';

it('says each rule on its line', () => {
  const rules = `
    namespace "default" {
      capabilities = ["read-job", "read-job"]
      variables { path "app/*" { capabilities = ["read", "list"] } }
    }
    namespace "ops" { variables { path "*" { capabilities = ["deny"] } } }
    node_pool "gpu" { policy = "read" }
    node { policy = "write" }
  `;
  expect(ruleLines(parsePolicy(rules)._unsafeUnwrap())).toEqual([
    { kind: 'namespace', name: 'default', word: '', capabilities: ['read-job'] },
    { kind: 'variables of default', name: 'app/*', word: '', capabilities: ['read', 'list'] },
    { kind: 'variables of ops', name: '*', word: '', capabilities: ['deny'] },
    { kind: 'node pool', name: 'gpu', word: 'read', capabilities: ['read'] },
    { kind: 'node', name: '', word: 'write', capabilities: [] },
  ]);
});

it('says nothing of a policy without rules', () => {
  expect(ruleLines(parsePolicy('')._unsafeUnwrap())).toEqual([]);
});

it('keeps the word of a namespace', () => {
  const [line] = ruleLines(parsePolicy('namespace "a" { policy = "read" }')._unsafeUnwrap());
  expect(line).toMatchObject({ kind: 'namespace', name: 'a', word: 'read' });
  expect(line?.capabilities).toContain('list-jobs');
});

it.each([
  ['failed to parse rules: at line 2, column 3: there is no block "nod"', { line: 2, column: 3 }],
  ["invalid name 'a b'", undefined],
])('%s is at %j', (message, position) => {
  expect(faultPosition(message)).toEqual(position);
});

it.each([
  [{ line: 1, column: 1 }, 0],
  [{ line: 2, column: 2 }, 4],
  [{ line: 9, column: 1 }, 6],
])('the place %j is at offset %d', (position, offset) => {
  expect(offsetOf('ab\ncd\n', position)).toBe(offset);
});
