// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the language under test has the same template syntax
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { BodySchema } from '../../../src/hcl/decode/schema.js';
import { createBudget, decodeFile, decodeFileInSteps, type Steps } from '../../../src/hcl/index.js';

const ids = { next: () => '00000000-0000-4000-8000-000000000000' };
const anything: BodySchema = {
  otherAttributes: { is: 'any', nullable: true },
  blocks: {
    group: { times: 'many', labels: ['name'], body: () => anything },
    config: { times: 'once', body: 'freeForm' },
  },
};
const schema: BodySchema = { blocks: { job: { times: 'once', labels: ['name'], body: anything } } };

function inTurns<Value>(steps: Steps<Value>): { readonly value: Value; readonly turns: number } {
  for (let turns = 1; ; turns += 1) {
    const step = steps.next(true);
    if (step.done === true) return { value: step.value, turns };
  }
}

const many = (count: number, item: (index: number) => string): string =>
  Array.from({ length: count }, (_, at) => item(at)).join('');
const job = (body: string): string => `job "a" {\n${body}}\n`;

describe('decoding in parts', () => {
  const vectors = JSON.parse(readFileSync(new URL('../../golden/hcl-jobs.json', import.meta.url), 'utf8')) as readonly {
    readonly hcl: string;
    readonly variables: string;
  }[];

  it('gives what decoding at once gives', () => {
    for (const { hcl, variables } of vectors) {
      const options = { schema, ids, variables, interpret: (body: unknown) => JSON.stringify(body, replacer) };
      const { value } = inTurns(decodeFileInSteps(hcl, options));
      expect(value).toEqual(decodeFile(hcl, options));
    }
  });

  it('interrupts reading and decoding of a large text', () => {
    const text = job(many(20_000, (at) => `  group "g${at}" {\n    a = "\${1 + ${at}}"\n  }\n`));
    const { value, turns } = inTurns(decodeFileInSteps(text, { schema, ids, interpret: (body) => body.blocks.size }));
    expect(value._unsafeUnwrap().value).toBe(1);
    expect(turns).toBeGreaterThan(10);
  });

  it('takes a text in several turns that costs more than one', () => {
    const loop = '[for i in range(60): [for j in range(1000): 1]]';
    const text = job(many(10, (at) => `  a${at} = ${loop}\n`));
    const options = {
      schema,
      ids,
      interpret: (body: { readonly blocks: ReadonlyMap<string, unknown> }) => body.blocks.size,
    };
    expect(decodeFile(text, options)._unsafeUnwrapErr()[0]?.code).toBe('too_much_work');
    expect(inTurns(decodeFileInSteps(text, options)).value._unsafeUnwrap().value).toBe(1);
    const budget = createBudget({ steps: 10_000_000 });
    expect(decodeFile(text, { ...options, budget })._unsafeUnwrap().value).toBe(1);
  });

  it('refuses what costs too much in all turns together', () => {
    const text = job(many(10, (at) => `  a${at} = [for i in range(60): [for j in range(1000): 1]]\n`));
    const budget = createBudget({ totalSteps: 1_500_000 });
    const { value } = inTurns(decodeFileInSteps(text, { schema, ids, budget, interpret: () => 1 }));
    expect(value._unsafeUnwrapErr()[0]?.code).toBe('too_much_work');
  });

  it('refuses a single expression that costs more than one turn', () => {
    const text = job('  a = [for i in range(1000): [for j in range(1000): 1]]\n');
    const { value } = inTurns(decodeFileInSteps(text, { schema, ids, interpret: () => 1 }));
    expect(value._unsafeUnwrapErr()[0]?.code).toBe('too_much_work');
  });

  it.each([
    ['native syntax', `x = [${'1,'.repeat(400_000)}]\n`, false],
    ['items of a body', many(130_000, (at) => `a${at.toString(36)}=1\n`), false],
    ['JSON form', `{"job":{"a":{"x":[${'1,'.repeat(300_000)}1]}}}`, false],
    ['version 1', job(`x = [${'1,'.repeat(300_000)}]\n`), true],
  ])('refuses a source of too many tokens: %s', (_name, text, hcl1) => {
    const [problem] = decodeFile(text, { schema, ids, hcl1, interpret: () => 1 })._unsafeUnwrapErr();
    expect(problem?.message).toMatch(/more than 500000 tokens/);
  });
});

function replacer(_key: string, value: unknown): unknown {
  return value instanceof Map ? Object.fromEntries(value) : value;
}
