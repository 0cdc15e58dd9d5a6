import { normalizeText } from '../values/unicode.js';
import { advance } from './lexer.js';
import { at, enter, leave, type Parser, report, reportToken, tokenName } from './parser.js';
import type { AttributeStep, ConstantStep, Expression, IndexStep, Reference, SplatStep, Step } from './tree.js';

/**
 * Reads what may follow a term: `.name`, `.0`, `[key]`, `[*]` and `.*`. Constant steps directly behind a name become part of the
 * reference, because an unknown name survives together with them.
 */
export function readSteps(parser: Parser, term: Expression): Expression | undefined {
  if (!at(parser, '.') && !at(parser, '[')) return term;
  const steps = readStepList(parser);
  if (steps === undefined) return undefined;
  if (term.kind !== 'reference') return traversal(term, steps);
  const dynamic = steps.findIndex((step) => !isConstant(step));
  const constant = (dynamic < 0 ? steps : steps.slice(0, dynamic)).filter(isConstant);
  const last = constant.at(-1);
  const reference = last === undefined ? term : extended(parser, term, constant, last.end);
  return dynamic < 0 ? reference : traversal(reference, steps.slice(dynamic));
}

function extended(parser: Parser, term: Reference, steps: readonly ConstantStep[], end: number): Reference {
  const placeholder = `\${${normalizeText(parser.lexer.text.slice(term.start, end))}}`;
  return { ...term, steps, placeholder, end };
}

function traversal(source: Expression, steps: readonly Step[]): Expression {
  return { kind: 'traversal', source, steps, start: source.start, end: steps.at(-1)?.end ?? source.end };
}

function isConstant(step: Step): step is ConstantStep {
  if (step.kind === 'splat-step') return false;
  if (step.kind === 'attribute-step') return true;
  const { key } = step;
  if (key.kind === 'template') return !key.passThrough && key.parts.every((part) => part.kind === 'text');
  return key.kind === 'number' || key.kind === 'keyword';
}

function readStepList(parser: Parser): Step[] | undefined {
  const steps: Step[] = [];
  for (;;) {
    let step: Step | undefined;
    if (at(parser, '.')) step = readDotStep(parser);
    else if (at(parser, '[')) step = readBracketStep(parser);
    else return steps;
    if (step === undefined) return undefined;
    steps.push(step);
  }
}

function readDotStep(parser: Parser): Step | undefined {
  const { lexer } = parser;
  const { start } = lexer;
  advance(lexer);
  if (at(parser, '*')) return readAttributeSplat(parser, start);
  return readNameOrNumber(parser, start);
}

function readNameOrNumber(parser: Parser, start: number): AttributeStep | IndexStep | undefined {
  const { lexer } = parser;
  if (at(parser, 'identifier')) {
    const name = normalizeText(lexer.text.slice(lexer.start, lexer.end));
    advance(lexer);
    return { kind: 'attribute-step', name, start, end: lexer.previousEnd };
  }
  if (at(parser, 'number')) {
    const text = lexer.text.slice(lexer.start, lexer.end);
    if (!/^\d+$/.test(text)) {
      return report(parser, 'bad_legacy_index', lexer, {
        message: 'Only one whole number may follow a dot.',
        detail: 'Write the indexes in brackets, as in a[0][1].',
      });
    }
    const key = { kind: 'number', text, start: lexer.start, end: lexer.end } as const;
    advance(lexer);
    return { kind: 'index-step', key, legacy: true, start, end: lexer.previousEnd };
  }
  return reportToken(
    parser,
    'expression_expected',
    `The name of an attribute is expected here, not ${tokenName(parser)}.`,
  );
}

/** `.*` reaches over the `.name` and `.0` steps behind it; a bracket then applies to the collected result. */
function readAttributeSplat(parser: Parser, start: number): SplatStep | undefined {
  const { lexer } = parser;
  advance(lexer);
  let end = lexer.previousEnd;
  const each: Step[] = [];
  while (at(parser, '.')) {
    const stepStart = lexer.start;
    advance(lexer);
    if (at(parser, '*')) {
      return report(parser, 'nested_splat', lexer, {
        message: 'A ".*" cannot be used within another one.',
        detail: 'Use "[*]", or a for-expression.',
      });
    }
    const step = readNameOrNumber(parser, stepStart);
    if (step === undefined) return undefined;
    each.push(step);
    end = step.end;
  }
  return { kind: 'splat-step', full: false, each, start, end };
}

function readBracketStep(parser: Parser): Step | undefined {
  const { lexer } = parser;
  const { start, end } = lexer;
  const outer = lexer.ignoreNewlines;
  lexer.ignoreNewlines = true;
  advance(lexer);
  if (at(parser, '*')) {
    advance(lexer);
    lexer.ignoreNewlines = outer;
    if (!at(parser, ']')) return reportToken(parser, 'not_closed', `A "]" is expected here, not ${tokenName(parser)}.`);
    return readFullSplat(parser, start);
  }
  if (at(parser, 'end')) {
    lexer.ignoreNewlines = outer;
    return report(parser, 'not_closed', { start, end }, 'This "[" is never closed.');
  }
  const key = parser.readExpression(parser);
  lexer.ignoreNewlines = outer;
  if (key === undefined) return undefined;
  if (!at(parser, ']')) return reportToken(parser, 'not_closed', `A "]" is expected here, not ${tokenName(parser)}.`);
  advance(lexer);
  return { kind: 'index-step', key, legacy: false, start, end: lexer.previousEnd };
}

/** `[*]` reaches over every step behind it. */
function readFullSplat(parser: Parser, start: number): SplatStep | undefined {
  if (!enter(parser)) return undefined;
  advance(parser.lexer);
  const end = parser.lexer.previousEnd;
  const each = readStepList(parser);
  leave(parser);
  if (each === undefined) return undefined;
  return { kind: 'splat-step', full: true, each, start, end: each.at(-1)?.end ?? end };
}
