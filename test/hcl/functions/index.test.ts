import { describe, expect, it } from 'vitest';
import { createBudget } from '../../../src/hcl/evaluate/budget.js';
import { evaluateExpression } from '../../../src/hcl/evaluate/evaluate-expression.js';
import type { HclFunction } from '../../../src/hcl/functions/function.js';
import { absentFunctionHints, hclFunctions } from '../../../src/hcl/functions/index.js';
import type { HclValue } from '../../../src/hcl/values/value.js';
import { dynamicNull, numberValue, objectValue, stringValue, tupleValue } from '../../../src/hcl/values/value.js';
import { expectErrors } from './evaluated.js';

const NAMES =
  `abs abspath base64decode base64encode basename bcrypt can ceil chomp chunklist cidrhost cidrnetmask cidrsubnet
  cidrsubnets coalesce coalescelist compact concat contains convert csvdecode dirname distinct element file filebase64
  fileexists fileset flatten floor format formatdate formatlist indent index join jsondecode jsonencode keys length log lookup
  lower max md5 merge min parseint pathexpand pow range regex_replace replace reverse rsadecrypt setintersection setproduct
  setunion sha1 sha256 sha512 signum slice sort split strlen strrev substr timeadd title trim trimprefix trimspace trimsuffix
  try upper urlencode uuidv4 uuidv5 values yamldecode yamlencode zipmap`.split(/\s+/);

describe('the table of functions', () => {
  it('has every function of the language and no other', () => {
    expect([...hclFunctions.keys()].sort()).toEqual([...NAMES].sort());
    expect(NAMES).toHaveLength(83);
    for (const [name, each] of hclFunctions) expect(each.name).toBe(name);
  });

  it('has hints only for functions that it has not', () => {
    expect([...absentFunctionHints.keys()].filter((name) => hclFunctions.has(name))).toEqual([]);
  });

  it('never throws, whatever the arguments', () => {
    const samples: readonly HclValue[] = [
      dynamicNull,
      stringValue(''),
      stringValue('%s [( 10.0.0.0/8'),
      numberValue(-1),
      numberValue(Number.POSITIVE_INFINITY),
      numberValue(2 ** 52),
      tupleValue([]),
      tupleValue([dynamicNull, stringValue('a'), numberValue(1)]),
      objectValue([['a', numberValue(1)]]),
    ];
    for (const each of hclFunctions.values()) {
      if (each.kind !== 'eager') continue;
      for (let count = 0; count <= 3; count += 1) {
        for (let first = 0; first < samples.length; first += 1) {
          for (let second = 0; second < (count > 1 ? samples.length : 1); second += 1) {
            const args = [samples[first], samples[second], samples[(first + second) % samples.length]].slice(0, count);
            const result = each.call(args as HclValue[], { ids: { next: () => 'id' }, budget: createBudget() });
            if (result.isErr()) expect(result.error.message.length).toBeGreaterThan(5);
          }
        }
      }
    }
  });
});

describe('whose fault it is', () => {
  it.each([
    ['upper(null)', 'null_argument', 0],
    ['substr("a", "x", 1)', 'invalid_argument', 1],
    ['upper("a", "b")', 'too_many_arguments', 1],
    ['upper()', 'too_few_arguments', undefined],
    ['parseint(5, 10)', 'invalid_argument', 0],
    ['parseint("1", 1)', 'invalid_argument', 1],
    ['range(5, 1, 2)', 'invalid_argument', 1],
    ['range(0, 1, 0)', 'function_failed', undefined],
    ['join("-", ["a"], [null])', 'invalid_argument', 2],
    ['formatlist("%s%s", ["a"], ["b", "c"])', 'invalid_argument', 2],
    ['formatdate("x", "2020-01-01T00:00:00Z")', 'invalid_argument', 0],
    ['formatdate("x", "bad")', 'invalid_argument', 1],
    ['timeadd("bad", "1s")', 'function_failed', undefined],
    ['keys([1])', 'invalid_argument', 0],
    ['length("a")', 'function_failed', undefined],
    ['base64decode("/w==")', 'function_failed', undefined],
    ['cidrsubnets("10.0.0.0/30", 1, 1, 1)', 'invalid_argument', 3],
    ['cidrhost("x", 1)', 'function_failed', undefined],
  ] as const)('%s: %s, argument %s', (expression, type, argument) => {
    const seen: unknown[] = [];
    const functions = new Map(
      [...hclFunctions].map(([name, each]): [string, HclFunction] => {
        if (each.kind !== 'eager') return [name, each];
        const watched: typeof each = {
          ...each,
          call: (args, context) =>
            each.call(args, context).mapErr((error) => {
              seen.push({ type: error.type, argument: error.argument });
              return error;
            }),
        };
        return [name, watched];
      }),
    );
    evaluateExpression(expression, { functions });
    expect(seen).toEqual([{ type, argument }]);
  });
});

describe('functions that are switched off', () => {
  expectErrors([
    'file("x")',
    'filebase64("x")',
    'fileexists("x")',
    'fileset("a", "*")',
    'abspath("a")',
    'basename("/a/b")',
    'dirname("/a/b")',
    'pathexpand("~")',
  ]);

  it('say so, and try falls back from them', () => {
    const result = evaluateExpression('file("x")')._unsafeUnwrapErr();
    expect(result[0]?.message).toContain('switched off');
    expect(evaluateExpression('try(file("x"), "d")')._unsafeUnwrap().text).toBe('"d"');
  });
});
