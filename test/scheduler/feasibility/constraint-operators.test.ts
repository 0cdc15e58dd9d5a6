import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { checkConstraint, resolveTarget } from '../../../src/scheduler/feasibility/constraint-operators.js';
import {
  checkDeviceConstraint,
  type DeviceSubject,
  resolveDeviceTarget,
} from '../../../src/scheduler/feasibility/device-constraints.js';
import { anyText } from '../../support/texts.js';

const operands = ['=', '!=', '<', '<=', '>', '>=', 'regexp', 'version', 'semver', 'is_set', 'is_not_set'].concat([
  'set_contains',
  'set_contains_any',
  'distinct_hosts',
  'distinct_property',
  'constructor',
  '__proto__',
  '',
]);
const found = (value: string): { value: string; found: boolean } => ({ value, found: true });

describe('operators', () => {
  it('compares large integers exactly and never through doubles', () => {
    expect(checkConstraint('>', found('9007199254740993'), found('9007199254740992'))).toBe(true);
    expect(checkConstraint('<', found('-9223372036854775808'), found('-9223372036854775807'))).toBe(true);
  });

  it('orders infinities and themselves', () => {
    expect(checkConstraint('>=', found('inf'), found('infinity'))).toBe(true);
    expect(checkConstraint('<', found('-inf'), found('1.5'))).toBe(true);
  });

  it('never meets an operand that is not known, not even a name that every object has', () => {
    for (const operand of ['', 'toString', 'constructor', '__proto__', 'Regexp']) {
      expect(checkConstraint(operand, found('a'), found('a'))).toBe(false);
    }
  });

  it('reads the version that a node reports loosely, also for semver', () => {
    expect(checkConstraint('semver', found('1.5.0rc1'), found('>= 1.4.0'))).toBe(true);
    expect(checkConstraint('semver', found('1.4.0rc1'), found('>= 1.4.0'))).toBe(false);
    expect(checkConstraint('semver', found('1.5.0'), found('>= 1.4.0rc1'))).toBe(false);
  });

  it('does not search a text that is too long for the pattern', () => {
    expect(checkConstraint('regexp', found('x'.repeat(1e6)), found('x'))).toBe(false);
  });

  test('gives an answer for any texts, in time', () => {
    const text = fc.oneof(anyText(), fc.constantFrom('a'.repeat(100_000), '1,'.repeat(10_000), '('));
    fc.assert(
      fc.property(fc.constantFrom(...operands), text, fc.boolean(), text, fc.boolean(), (operand, a, x, b, y) => {
        const left = { value: x ? a : '', found: x };
        const right = { value: y ? b : '', found: y };
        expect(typeof checkConstraint(operand, left, right)).toBe('boolean');
      }),
      { numRuns: 300 },
    );
  });
});

describe('targets', () => {
  const node = {
    ID: 'n',
    Name: 'name',
    Datacenter: 'dc1',
    NodeClass: '',
    NodePool: 'default',
    Attributes: { a: '1', 'x}': 'brace' },
    Meta: null,
  };

  it.each(['attr.constructor', 'attr.__proto__', 'attr.toString', 'meta.a', 'node.', 'constructor', 'node.class '])(
    '%s is not found',
    (name) => {
      expect(resolveTarget(`\${${name}}`, node)).toEqual({ value: '', found: false });
    },
  );

  it('finds an empty class', () => {
    expect(resolveTarget(`\${node.class}`, node)).toEqual({ value: '', found: true });
  });

  it('takes one closing brace off', () => {
    expect(resolveTarget(`\${attr.x}}`, node).value).toBe('brace');
  });
});

describe('devices', () => {
  const device: DeviceSubject = {
    Vendor: 'acme',
    Type: 'gpu',
    Name: 'k9',
    Instances: null,
    Attributes: {
      memory: { Int: 4, Unit: 'GiB' },
      rate: { Float: 1.5, Unit: 'GB/s' },
      power: { Int: 250, Unit: 'W' },
      ratio: { Float: 0.1 },
      exact: { Bool: true },
      strange: { Int: 7, Unit: 'furlong' },
      none: {},
    },
  };
  const check = (name: string, operand: string, right: string): boolean =>
    checkDeviceConstraint(
      operand,
      resolveDeviceTarget(`\${device.${name}}`, device),
      resolveDeviceTarget(right, device),
    );

  it.each([
    ['attr.memory', '>', '4194303 KiB', true],
    ['attr.memory', '=', '4.0GiB', true],
    ['attr.memory', '<', '4.3 GB', true],
    ['attr.memory', '=', '4', false],
    ['attr.memory', '!=', '4 MB/s', false],
    ['attr.rate', '>=', '1500 MB/s', true],
    ['attr.rate', '<', 'inf GB/s', true],
    ['attr.rate', '<', 'nan GB/s', false],
    ['attr.ratio', '=', '0.1', true],
    ['attr.ratio', '<', '1', true],
    ['attr.strange', '=', '7', true],
    ['attr.exact', '>', 'false', true],
    ['attr.exact', '=', 'T', true],
    ['attr.none', 'is_set', '', true],
    ['attr.none', '=', '', false],
    ['attr.constructor', 'is_set', '', false],
    ['ids', '=', '', true],
    ['attr.power', 'version', '>= 200, < 300', true],
    ['attr.power', 'version', '250', false],
  ])('%s %s %s', (name, operand, right, holds) => {
    expect(check(name, operand, right)).toBe(holds);
  });

  test('gives an answer for any texts', () => {
    fc.assert(
      fc.property(fc.constantFrom(...operands), fc.string(), fc.string(), (operand, left, right) => {
        expect(typeof check(left, operand, right)).toBe('boolean');
        expect(typeof check('attr.memory', operand, right)).toBe('boolean');
      }),
    );
  });
});
