import { describe, expect, it } from 'vitest';
import { createBudget } from '../../../src/hcl/evaluate/budget.js';
import { hclFunctions } from '../../../src/hcl/functions/index.js';
import type { HclValue } from '../../../src/hcl/values/value.js';
import { numberValue, stringValue, tupleValue } from '../../../src/hcl/values/value.js';
import { processorTimeOf } from '../../support/processor-time.js';

const megabytes = (unit: string, count = 3) => stringValue(unit.repeat((count * 1024 * 1024) / unit.length));
const numberOf = (value: number): HclValue => numberValue(value);
const many = (count: number) => tupleValue(Array.from({ length: count }, (_, at) => numberValue(at)));

const nested = (open: string, close: string) => stringValue(open.repeat(5_000) + close.repeat(5_000));

/** Arguments that ask for far too much. */
const GREEDY: readonly (readonly [string, ...HclValue[]])[] = [
  ['indent', numberOf(1_000_000), stringValue('\n'.repeat(1_000))],
  ['indent', numberOf(2 ** 52), stringValue('\n')],
  ['replace', megabytes('a', 1), stringValue('a'), stringValue('b'.repeat(100))],
  ['replace', megabytes('a', 1), stringValue(''), stringValue('b'.repeat(100))],
  ['format', stringValue('%99999999999s'), stringValue('a')],
  ['format', stringValue('%.9999999999f'), numberOf(1)],
  ['format', stringValue('%[1]s'.repeat(1_000)), megabytes('a', 1)],
  ['formatlist', stringValue('%[1]s'.repeat(1_000)), many(5_000)],
  ['setproduct', many(2_000), many(2_000)],
  ['regex_replace', megabytes('a'), stringValue('(a{0,500}){0,1}b'), stringValue('')],
  ['regex_replace', megabytes('a', 1), stringValue('a'), stringValue('b'.repeat(100))],
  ['split', stringValue(''), megabytes('a', 1)],
  ['jsondecode', nested('[', ']')],
  ['jsondecode', nested('{"a":', '')],
  ['yamldecode', nested('[', ']')],
  ['yamldecode', stringValue(Array.from({ length: 5_000 }, (_, at) => `${' '.repeat(at)}- `).join('\n'))],
  [
    'yamldecode',
    stringValue(
      `a0: &a0 [x]\n${Array.from({ length: 40 }, (_, at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}]\n`).join('')}`,
    ),
  ],
  ['parseint', megabytes('9', 1), numberOf(10)],
  ['yamldecode', stringValue('- '.repeat(5_000))],
  ['strlen', megabytes('\u0e01', 3)],
  ['format', stringValue('%5s'), megabytes('\u0e01', 3)],
];

describe('functions stay within the budget', () => {
  it.each(GREEDY.map(([name, ...args]) => ({ name, args })))('$name', ({ name, args }) => {
    const time = processorTimeOf(() => {
      const result = call(name, args);
      expect(result.isErr() && result.error.type).toBe('budget_exceeded');
    });
    expect(time).toBeLessThan(5_000);
  });

  /** Large texts that are no harm: they take a moment and no deep stack. */
  it.each(
    (
      [
        ['csvdecode', stringValue(`a\n"${'""'.repeat(500_000)}"\n`)],
        ['jsondecode', stringValue(`"${'\\n'.repeat(500_000)}"`)],
        ['yamldecode', stringValue(`"${'x \n '.repeat(100_000)}"`)],
        ['yamldecode', stringValue(`|\n${' x\n'.repeat(100_000)}`)],
        ['yamldecode', stringValue(`>\n${'\n'.repeat(500_000)} x`)],
        ['trimspace', stringValue(`${' '.repeat(300_000)}x`.repeat(3))],
        ['chomp', megabytes('\n')],
        ['base64decode', megabytes('aGk=', 1)],
        ['urlencode', megabytes(' ', 1)],
        ['strlen', megabytes('\u00e9', 1)],
        ['strlen', stringValue('\ud83d\udc68\u200d\ud83d\udc69'.repeat(60_000))],
        ['strlen', stringValue(`e${'\u0489'.repeat(300_000)}`)],
        ['regex_replace', stringValue('a'.repeat(50_000)), stringValue('(a*)*b'), stringValue('')],
      ] satisfies readonly (readonly [string, ...HclValue[]])[]
    ).map(([name, ...args]) => ({ name, args })),
  )('$name of a large text', ({ name, args }) => {
    const time = processorTimeOf(() => {
      const result = call(name, args);
      if (result.isErr()) expect(result.error.type).not.toBe('budget_exceeded');
    });
    expect(time).toBeLessThan(5_000);
  });

  it('a spent budget stops every function', () => {
    const budget = createBudget({ steps: 1 });
    budget.charge(2);
    const upper = hclFunctions.get('upper');
    const result = upper?.kind === 'eager' ? upper.call([stringValue('a')], { ids, budget }) : undefined;
    expect(result?.isErr() && result.error.type).toBe('budget_exceeded');
  });
});

const ids = { next: () => 'id' };

function call(name: string, args: readonly HclValue[]) {
  const found = hclFunctions.get(name);
  if (found?.kind !== 'eager') throw new Error(`no function ${name}`);
  return found.call(args, { ids, budget: createBudget() });
}
