import { readFileSync } from 'node:fs';
import type { BodySchema, Diagnostic } from '../../src/hcl/index.js';
import { createBudget, decodeFile, evaluateExpression } from '../../src/hcl/index.js';

/** Pieces that mean something to the language, so that mutations reach deep into it. */
const PIECES = [
  '${',
  '%{',
  '}',
  '~}',
  '{',
  '[',
  ']',
  '(',
  ')',
  '"',
  '\\',
  '$${',
  '%%{',
  '<<E\n',
  '<<-E\n',
  '\nE\n',
  '\n',
  '\r\n',
  ' ',
  '\t',
  '.',
  '..',
  '...',
  '[*]',
  '.*',
  '::',
  ',',
  '=',
  '=>',
  '==',
  '!=',
  '<=',
  '&&',
  '||',
  '!',
  '?',
  ':',
  '+',
  '-',
  '*',
  '/',
  '%',
  '#',
  '//',
  '/*',
  '*/',
  'for',
  'in',
  'if',
  'else',
  'endif',
  'endfor',
  'null',
  'true',
  'var.x',
  'local.a',
  'each.value',
  '0',
  '1e400',
  '1e-9',
  '9007199254740993',
  '0.1',
  'dynamic "group" {\n',
  'content {\n',
  'for_each',
  'labels',
  'variable "x" {\n',
  'locals {\n',
  'é',
  '👨‍👩‍👧',
  '\u0301',
  '\u0000',
  '\ud83d',
  '\ufeff',
  '`',
  "'",
  '&',
  'try(',
  'can(',
  'convert(',
  'range(1024)',
  'jsonencode(',
  'format("%d", ',
] as const;

export interface MutationOutcome {
  readonly accepted: number;
  readonly refused: number;
  readonly slowest: number;
  readonly slowestInput: string;
  /** What must never happen: an exception, a hang, a position outside of the text, two answers to one question. */
  readonly failures: readonly { readonly input: string; readonly reason: string }[];
}

/** Runs mutated inputs through the expression evaluator and the file decoder in all its modes. Equal seeds give equal inputs. */
export function runMutations(count: number, seed: number, budgetSteps = 30_000): MutationOutcome {
  const random = generator(seed);
  const pool = seeds();
  let accepted = 0;
  let refused = 0;
  let slowest = 0;
  let slowestInput = '';
  const failures: { input: string; reason: string }[] = [];
  for (let index = 0; index < count; index += 1) {
    const { text: input, mode } = mutate(pool, random);
    const started = performance.now();
    try {
      const outcome = run(input, mode, budgetSteps);
      if (outcome.ok) accepted += 1;
      else refused += 1;
      const misplaced = misplacedIn(outcome.diagnostics, input);
      if (misplaced !== undefined) failures.push({ input, reason: misplaced });
      if (index % 50 === 0 && JSON.stringify(run(input, mode, budgetSteps)) !== JSON.stringify(outcome)) {
        failures.push({ input, reason: 'two evaluations of one text differ' });
      }
    } catch (error) {
      failures.push({
        input,
        reason: `mode ${mode}: ${error instanceof Error ? (error.stack ?? error.message) : 'unknown'}`,
      });
    }
    const took = performance.now() - started;
    if (took > slowest) {
      slowest = took;
      slowestInput = input;
    }
    if (failures.length >= 20) break;
  }
  return { accepted, refused, slowest, slowestInput, failures };
}

interface Outcome {
  readonly ok: boolean;
  readonly text: string;
  readonly diagnostics: readonly Diagnostic[];
}

const anything: BodySchema = {
  attributes: {
    region: { is: 'string', nullable: true },
    priority: { is: { integer: [-128, 127] } },
    datacenters: { is: 'stringList' },
    kill_timeout: { is: 'duration' },
  },
  otherAttributes: { is: 'any', nullable: true },
  blocks: {
    group: { times: 'many', labels: ['name'], body: () => anything },
    task: { times: 'many', labels: ['name'], body: () => anything },
    env: { times: 'once', body: { otherAttributes: { is: 'string' } } },
    config: { times: 'once', body: 'freeForm' },
  },
};
const schema: BodySchema = { blocks: { job: { times: 'once', required: true, labels: ['name'], body: anything } } };
const ids = { next: (): string => '00000000-0000-4000-8000-000000000000' };

function run(input: string, mode: number, steps: number): Outcome {
  const budget = createBudget({ steps });
  if (mode < 3) {
    const result = evaluateExpression(input, { budget, unknownNames: mode === 0 ? 'text' : 'error' });
    return result.isOk()
      ? { ok: true, text: result.value.text, diagnostics: [] }
      : { ok: false, text: '', diagnostics: result.error };
  }
  const source = mode === 5 ? 'variable "x" { default = 1 }\njob "a" { }\n' : input;
  const result = decodeFile(source, {
    schema,
    ids,
    budget,
    hcl1: mode === 4,
    ...(mode === 5 ? { variables: input } : {}),
    interpret: (body) => body.blocks.size,
  });
  return result.isOk()
    ? { ok: true, text: String(result.value.value), diagnostics: result.value.warnings }
    : { ok: false, text: '', diagnostics: result.error };
}

function misplacedIn(diagnostics: readonly Diagnostic[], input: string): string | undefined {
  const bytes = Buffer.byteLength(input) + 64;
  for (const { start, end, message } of diagnostics) {
    const inOrder =
      start.offset <= end.offset && (start.line < end.line || (start.line === end.line && start.column <= end.column));
    if (start.line < 1 || start.column < 1 || end.offset > bytes || !inOrder) return `misplaced: ${message}`;
  }
  return undefined;
}

function mutate(pool: readonly Seed[], random: () => number): { text: string; mode: number } {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const start = pick(pool);
  let { text } = start;
  // Now and then a text meets a reader that it was not written for.
  const mode = random() < 0.1 ? Math.floor(random() * 6) : pick(start.modes);
  const times = 1 + Math.floor(random() * (random() < 0.3 ? 8 : 2));
  for (let round = 0; round < times; round += 1) {
    const at = Math.floor(random() * (text.length + 1));
    const to = Math.min(text.length, at + Math.floor(random() * 12));
    switch (Math.floor(random() * 6)) {
      case 0:
        text = text.slice(0, at) + text.slice(to);
        break;
      case 1:
        text = text.slice(0, at) + pick(PIECES) + text.slice(at);
        break;
      case 2:
        text = text.slice(0, to) + text.slice(at, to) + text.slice(to);
        break;
      case 3: {
        const other = pick(pool).text;
        const from = Math.floor(random() * (other.length + 1));
        text = text.slice(0, at) + other.slice(from, from + 40) + text.slice(at);
        break;
      }
      case 4:
        text =
          text.slice(0, at) +
          String.fromCharCode(Math.floor(random() * (random() < 0.9 ? 128 : 65536))) +
          text.slice(at + 1);
        break;
      default:
        text = text.slice(0, at) + pick(PIECES).repeat(1 + Math.floor(random() * 20)) + text.slice(to);
    }
    if (text.length > 4000) text = text.slice(0, 4000);
  }
  return { text, mode };
}

interface Seed {
  readonly text: string;
  readonly modes: readonly number[];
}

function seeds(): readonly Seed[] {
  const read = (name: string): readonly Record<string, string>[] =>
    JSON.parse(readFileSync(new URL(`../golden/${name}`, import.meta.url), 'utf8')) as Record<string, string>[];
  const expressions = read('hcl-expressions.json').map(({ expr = '' }): Seed => ({ text: expr, modes: [0, 1, 2] }));
  const jobs = read('hcl-jobs.json').flatMap(({ hcl = '', variables = '' }): Seed[] => [
    { text: hcl, modes: [3, 3, 4] },
    { text: variables, modes: [5] },
  ]);
  return [...expressions, ...jobs].filter(({ text }) => text !== '' && text.length < 3000);
}

/** A small deterministic generator (xorshift, 32 bits). */
function generator(seed: number): () => number {
  let state = seed | 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
