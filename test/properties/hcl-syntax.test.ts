import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { evaluateExpression, parseFile, parseText, printBody, printExpression } from '../../src/hcl/index.js';
import type { Body, BodyItem, Expression, Step, TemplatePart } from '../../src/hcl/syntax/tree.js';
import { runMutations } from '../bench/hcl-mutations.js';

const at = { start: 0, end: 0 };
const name = fc.constantFrom('a', 'b-c', 'for_each', 'var', 'é', 'x1', 'in', 'null_');
const text = fc
  .oneof(
    fc.string({ unit: 'grapheme', maxLength: 8 }),
    fc.constantFrom('$', '%', '${', '%{', '$${', '"', '\\', '\n', 'x\t\r\n', '~', '}', '$$', '\u0000'),
  )
  .map((given) => given.normalize('NFC'))
  .filter((given) => given !== '' && given.normalize('NFC') === given);

const { expression } = fc.letrec<{ expression: Expression; term: Expression; binary: Expression }>((tie) => {
  const inner = tie('expression');
  const template = templateOf(inner);
  const parentheses = inner.map((value): Expression => ({ kind: 'parentheses', inner: value, ...at }));
  const tuple = fc.array(inner, { maxLength: 3 }).map((items): Expression => ({ kind: 'tuple', items, ...at }));
  const key = fc.oneof(name.map(reference), template, parentheses);
  const object = fc
    .array(fc.record({ key, value: inner }), { maxLength: 3 })
    .map((items): Expression => ({ kind: 'object', items, ...at }));
  const call = fc.tuple(fc.constantFrom('f', 'ns::g'), fc.array(inner, { maxLength: 3 }), fc.boolean()).map(
    ([callee, given, expand]): Expression => ({
      kind: 'call',
      name: callee,
      nameSpan: at,
      openSpan: at,
      arguments: given,
      expandLast: expand && given.length > 0,
      ...at,
    }),
  );
  const forExpression = fc
    .tuple(
      fc.option(name, { nil: undefined }),
      name,
      inner,
      fc.option(inner, { nil: undefined }),
      inner,
      fc.boolean(),
      fc.option(inner, { nil: undefined }),
    )
    .map(
      ([keyName, valueName, collection, forKey, value, grouped, condition]): Expression => ({
        kind: 'for',
        keyName,
        valueName,
        collection,
        key: forKey,
        value,
        grouped: grouped && forKey !== undefined,
        condition,
        ...at,
      }),
    );
  const number = fc
    .constantFrom('0', '12', '1.5', '1e3', '007')
    .map((given): Expression => ({ kind: 'number', text: given, ...at }));
  const keyword = fc
    .constantFrom('true' as const, 'false' as const, 'null' as const)
    .map((given): Expression => ({ kind: 'keyword', name: given, ...at }));
  const plain = fc.oneof(
    number,
    keyword,
    name.map(reference),
    parentheses,
    tuple,
    object,
    call,
    forExpression,
    template,
  );
  // A constant index behind a name would be part of the reference.
  const dynamicStep = inner.map((value): Step => {
    const constant = ['number', 'keyword', 'template'].includes(value.kind);
    return {
      kind: 'index-step',
      key: constant ? { kind: 'parentheses', inner: value, ...at } : value,
      legacy: false,
      ...at,
    };
  });
  const attribute = name.map((given): Step => ({ kind: 'attribute-step', name: given, ...at }));
  const legacy = fc
    .constantFrom('0', '12')
    .map((given): Step => ({ kind: 'index-step', key: { kind: 'number', text: given, ...at }, legacy: true, ...at }));
  const steps = fc
    .tuple(
      dynamicStep,
      fc.array(fc.oneof(attribute, legacy, dynamicStep), { maxLength: 2 }),
      fc.constantFrom('none', 'full', 'attribute'),
      fc.array(fc.oneof(attribute, legacy), { maxLength: 2 }),
    )
    .map(([first, rest, splat, each]): readonly Step[] =>
      splat === 'none'
        ? [first, ...rest]
        : [first, ...rest, { kind: 'splat-step', full: splat === 'full', each, ...at }],
    );
  const traversal = fc
    .tuple(plain, steps)
    .map(([source, given]): Expression => ({ kind: 'traversal', source, steps: given, ...at }));
  const term = fc.oneof({ maxDepth: 4, depthIdentifier: 'hcl' }, number, name.map(reference), plain, traversal);
  const unary = fc
    .tuple(fc.constantFrom('-' as const, '!' as const), tie('term'))
    .map(([operator, operand]): Expression => ({ kind: 'unary', operator, operand, ...at }));
  const operand = fc.oneof(tie('term'), unary);
  const binary = fc
    .tuple(
      fc.constantFrom('||', '&&', '==', '!=', '<', '<=', '>', '>=', '+', '-', '*', '/', '%'),
      operand,
      fc.array(operand, { minLength: 1, maxLength: 3 }),
    )
    .map(
      ([operator, first, rest]): Expression =>
        rest.reduce<Expression>(
          (left, right) => ({ kind: 'binary', operator: operator as '+', left, right, ...at }),
          first,
        ),
    );
  const conditional = fc.tuple(operand, operand, inner).map(
    ([condition, whenTrue, whenFalse]): Expression => ({
      kind: 'conditional',
      condition,
      whenTrue,
      whenFalse,
      ...at,
    }),
  );
  return {
    term,
    binary,
    expression: fc.oneof(
      { maxDepth: 4, depthIdentifier: 'hcl' },
      number,
      tie('term'),
      unary,
      tie('binary'),
      conditional,
    ),
  };
});

function reference(given: string): Expression {
  return { kind: 'reference', name: given, steps: [], placeholder: `\${${given}}`, ...at };
}

function templateOf(inner: fc.Arbitrary<Expression>): fc.Arbitrary<Expression> {
  const textPart = text.map((given): TemplatePart => ({ kind: 'text', text: given, ...at }));
  const interpolation = inner.map((value): TemplatePart => ({ kind: 'interpolation', value, ...at }));
  const branch = fc.array(fc.oneof(textPart, interpolation), { maxLength: 2 }).map(joined);
  const ifPart = fc
    .tuple(inner, branch, fc.option(branch, { nil: undefined }))
    .map(([condition, whenTrue, whenFalse]): TemplatePart => ({ kind: 'if', condition, whenTrue, whenFalse, ...at }));
  const forPart = fc.tuple(fc.option(name, { nil: undefined }), name, inner, branch).map(
    ([keyName, valueName, collection, body]): TemplatePart => ({
      kind: 'for-directive',
      keyName,
      valueName,
      collection,
      body,
      ...at,
    }),
  );
  return fc
    .tuple(fc.array(fc.oneof(textPart, interpolation, ifPart, forPart), { maxLength: 3 }).map(joined), fc.boolean())
    .map(
      ([parts, pass]): Expression => ({
        kind: 'template',
        parts,
        passThrough: pass && parts.length === 1 && parts[0]?.kind === 'interpolation',
        ...at,
      }),
    );
}

/** Neighbouring texts are one part, in normal form. */
function joined(parts: readonly TemplatePart[]): readonly TemplatePart[] {
  const result: TemplatePart[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    if (part.kind === 'text' && last?.kind === 'text') {
      result[result.length - 1] = { ...last, text: (last.text + part.text).normalize('NFC') };
    } else result.push(part);
  }
  return result;
}

const body: fc.Arbitrary<Body> = fc.letrec<{ body: Body }>((tie) => {
  const attribute = fc
    .tuple(name, expression)
    .map(([given, value]): BodyItem => ({ kind: 'attribute', name: given, nameSpan: at, value, ...at }));
  const label = text.map((given) => ({ text: given, ...at }));
  const block = fc
    .tuple(name, fc.array(label, { maxLength: 2 }), tie('body'))
    .map(([type, labels, content]): BodyItem => ({ kind: 'block', type, typeSpan: at, labels, body: content, ...at }));
  const items = fc.array(fc.oneof({ maxDepth: 3, depthIdentifier: 'hcl-body' }, attribute, block), { maxLength: 3 });
  return {
    body: items.map((given): Body => {
      const seen = new Set<string>();
      const unique = given.filter((item) => item.kind === 'block' || (!seen.has(item.name) && seen.add(item.name)));
      return { kind: 'body', items: unique, ...at };
    }),
  };
}).body;

/** The tree without offsets. */
function shape(tree: unknown): unknown {
  return JSON.parse(
    JSON.stringify(tree, (key, value: unknown) =>
      ['start', 'end', 'nameSpan', 'openSpan', 'typeSpan'].includes(key) ? undefined : value,
    ),
  );
}

describe('syntax', () => {
  test('printing an expression and parsing it gives the same tree', () => {
    fc.assert(
      fc.property(expression, (tree) => {
        expect(shape(parseText(printExpression(tree))._unsafeUnwrap())).toEqual(shape(tree));
      }),
      { numRuns: 500 },
    );
  });

  test('printing a body and parsing it gives the same tree', () => {
    fc.assert(
      fc.property(body, (tree) => {
        expect(shape(parseFile(printBody(tree))._unsafeUnwrap())).toEqual(shape(tree));
      }),
      { numRuns: 300 },
    );
  });

  test('any text is accepted or refused, with positions within the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (given) => {
        const result = evaluateExpression(given);
        if (result.isOk()) return;
        expect(result.error.length).toBeGreaterThan(0);
        for (const { start, end } of result.error) {
          expect(start.line).toBeLessThanOrEqual(given.split('\n').length);
          expect(end.offset).toBeLessThanOrEqual(Buffer.byteLength(given));
        }
      }),
      { numRuns: 1000 },
    );
  });

  test('mutated expressions and files never crash, hang, or answer twice differently', () => {
    const outcome = runMutations(5000, 20_240_607);
    expect(outcome.failures).toEqual([]);
    expect(outcome.accepted).toBeGreaterThan(100);
  });
});
